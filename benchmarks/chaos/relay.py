"""Pass bytes between a port of the loopback and a server: python -m benchmarks.chaos.relay PORT HOST SERVER_PORT.

To cut what goes through it, kill the process: connections close, and new ones are refused. Stopped, it lets them hang.
"""

import asyncio
import contextlib
import sys


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def relay(port: int, host: str, server: int) -> None:
    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there = await asyncio.open_connection(host, server)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pass(reader, there[1]), _pass(there[0], writer))

    listener = await asyncio.start_server(connect, "127.0.0.1", port)
    await listener.serve_forever()


if __name__ == "__main__":
    asyncio.run(relay(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
