# Answers UDP packets until its parent ends; writes its port to a file: python3 -c PROGRAM FILE
import os, select, socket, sys
try:
    here = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    here.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    here.bind(("::", 0))
except OSError:
    here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    here.bind(("0.0.0.0", 0))
parent = os.getppid()
with open(sys.argv[1] + ".new", "w") as file:
    file.write("%d\n" % here.getsockname()[1])
os.rename(sys.argv[1] + ".new", sys.argv[1])
while os.getppid() == parent:
    if select.select([here], [], [], 1)[0]:
        data, sender = here.recvfrom(64)
        if data[28:] == b"iso\0":
            here.sendto(data, sender)
