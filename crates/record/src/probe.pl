# What probe.py does, where there is no python3: perl -e PROGRAM COUNT ADDRESS/PORT...
use strict; use Socket qw(:DEFAULT :addrinfo); use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC usleep);
my $count = shift;
for my $peer (@ARGV) {
    my ($address, $port) = $peer =~ m{(.*)/(.*)};
    my ($came, $least, $silent) = (0, 0, 0);
    my ($error, $to) = getaddrinfo($address, $port, { socktype => SOCK_DGRAM });
    my $here;
    if (!$error && socket($here, $to->{family}, SOCK_DGRAM, 0) && connect($here, $to->{addr})) {
        for (1 .. $count) {
            my $packet = join("", map { chr(int(rand(256))) } 1 .. 28) . "iso\0";
            my $begin = clock_gettime(CLOCK_MONOTONIC);
            send($here, $packet, 0);
            my $back = "";
            while ($back ne $packet) {
                my $ready = "";
                vec($ready, fileno($here), 1) = 1;
                last unless select($ready, undef, undef, 0.2) > 0;
                last unless defined recv($here, $back, 64, 0);
            }
            if ($back ne $packet) { last if ++$silent == 5; next }
            my $took = int((clock_gettime(CLOCK_MONOTONIC) - $begin) * 1e9);
            $came++;
            $least = $took if !$least || $took < $least;
            usleep(2000);
        }
    } else {
        print "warning=$peer: $error $!\n";
    }
    print "trips=$peer $came $least\n";
}
