/** Servers on 127.0.0.1 that end with the test that started them. */
import { createServer, type RequestListener } from 'node:http'
import {
  type AddressInfo,
  createServer as createNetServer,
  type Server,
  type Socket,
} from 'node:net'
import { createServer as createTlsServer } from 'node:https'
import type { TlsOptions } from 'node:tls'
import { onTestFinished } from 'vitest'

/** An HTTP server; returns its port. */
export function serveHttp(listener: RequestListener): Promise<number> {
  return listen(createServer({ maxHeaderSize: 65_536 }, listener))
}

export function serveHttps(options: TlsOptions, listener: RequestListener): Promise<number> {
  return listen(createTlsServer(options, listener))
}

/** A server that speaks whatever the test writes to the socket. */
export function serveTcp(onSocket: (socket: Socket) => void): Promise<number> {
  return listen(createNetServer((socket) => onSocket(socket.on('error', () => {}))))
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createNetServer()
  const port = await listening(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  )
  return listening(server)
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
