# Sends so many packets to each address, one after the other, and prints how many came back and the least time, ns:
# python3 -c PROGRAM COUNT ADDRESS/PORT...
import os, socket, sys, time
for peer in sys.argv[2:]:
    address, port = peer.rsplit("/", 1)
    came, least = 0, 0
    try:
        family, kind, protocol, _, to = socket.getaddrinfo(address, int(port), type=socket.SOCK_DGRAM)[0]
        here = socket.socket(family, kind, protocol)
        here.settimeout(0.2)
        here.connect(to)
        silent = 0
        for number in range(int(sys.argv[1])):
            packet = os.urandom(28) + b"iso\0"
            begin = time.perf_counter()
            here.send(packet)
            try:
                while here.recv(64) != packet:
                    pass
            except socket.timeout:
                silent += 1
                if silent == 5:
                    break
                continue
            took = int((time.perf_counter() - begin) * 1e9)
            came, least = came + 1, min(took, least or took)
            time.sleep(0.002)
    except OSError as error:
        print("warning=%s: %s" % (peer, error))
    print("trips=%s %d %d" % (peer, came, least))
