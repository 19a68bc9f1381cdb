# SPDX-License-Identifier: GPL-3.0-or-later
# usage: mix.pl ROUNDS TEXT. Regular expressions, hashes, sorting, calls, string building.
use strict;
use warnings;
no warnings 'recursion';

my ($rounds, $file) = @ARGV;
open my $in, '<', $file or die "$file: $!";
my $text = do { local $/; <$in> };
my $sum = 0;

sub paths { my ($w, $h) = @_; return $w && $h ? paths($w - 1, $h) + paths($w, $h - 1) : 1 }

for my $round (1 .. $rounds) {
	my %n;
	$n{$1}++ while $text =~ /\b([a-z]{3,9})\b/g;
	my @top = (sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n)[0 .. 99];
	$sum += $n{$_} * length for @top;
	(my $copy = substr $text, 0, 200000) =~ s/(\w+)@(\w+)/$2 at $1/g;
	$sum += ($copy =~ tr/aeiou//) + paths(8, 8);
	my @rows = map { [$_, $_ * 48271 % 65537, "k$_"] } 1 .. 30000;
	$sum += (sort { $a->[1] <=> $b->[1] } @rows)[$round]->[0];
	my $line = '';
	$line .= sprintf '%d:%s,', $_->[1], $_->[2] for @rows;
	$sum += scalar(() = $line =~ /:k\d*7,/g);
	$sum %= 1000003;
}
print "$sum\n";
