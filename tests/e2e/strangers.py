"""Something that listens where a server was, and is none.

Usage: strangers.py PORT SPEECH      prints the host of each visitor
"""

import socket
import sys
import threading
import time


def greeting(mechanism):
    """Of ZMTP 3.0."""
    return (b"\xff" + bytes(8) + b"\x7f\x03\x00" + mechanism.ljust(20, b"\0")).ljust(64, b"\0")


def ready(kind):
    body = b"\x05READY" + b"\x0bSocket-Type" + len(kind).to_bytes(4, "big") + kind
    return b"\x04" + bytes([len(body)]) + body


SPEECHES = {
    "http": b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n" * 4,
    "nothing": b"",
    "curve": greeting(b"CURVE"),
    "publisher": greeting(b"NULL") + ready(b"PUB"),
    "endless": greeting(b"NULL") + ready(b"ROUTER") + b"\x02" + (1 << 40).to_bytes(8, "big"),
    "noise": greeting(b"NULL") + bytes(x * 167 % 251 for x in range(512)),
}


def receive(visitor, speech):
    visitor.sendall(speech)
    time.sleep(0.3)  # Until it is read: who closes before says nothing.
    visitor.close()


def main():
    with socket.create_server(("", int(sys.argv[1]))) as door:
        while True:
            visitor, (host, _) = door.accept()
            print(host, flush=True)
            threading.Thread(target=receive, args=(visitor, SPEECHES[sys.argv[2]]),
                             daemon=True).start()


if __name__ == "__main__":
    main()
