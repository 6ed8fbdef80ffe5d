# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Print the requests of clients on their way to a broker (kwire.messages).

    python examples/proxy.py 9093 broker:9092

A client that connects to port 9093 learns the address of the broker from a Metadata
response, and continues there. ``kwire record`` rewrites these addresses.
"""

import asyncio
import sys

from kwire.messages import framing


async def copy(reader, writer, splitter):
    while data := await reader.read(65536):
        for frame in splitter.feed(data) if splitter else ():
            header, request = framing.decode_request(frame)
            print(type(request).__name__, header.request_api_version, flush=True)
        writer.write(data)
        await writer.drain()
    writer.close()


async def serve(reader, writer):
    upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))
    await asyncio.gather(
        copy(reader, upstream_writer, framing.FrameSplitter()),
        copy(upstream_reader, writer, None),
    )


async def main():
    listener = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    print("listening on port", listener.sockets[0].getsockname()[1], flush=True)
    await listener.serve_forever()


host, _, port = sys.argv[2].rpartition(":")
asyncio.run(main())
