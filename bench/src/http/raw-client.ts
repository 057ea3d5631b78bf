// A minimal client: keeps sockets open, sends prepared bytes, and reads only the status and length of a
// response, so that the server gets most of the CPU.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

interface Waiting {
  request: Buffer
  resolve(body: Buffer): void
  reject(error: Error): void
}

const HEAD_END = Buffer.from('\r\n\r\n')

export class RawClient {
  readonly #connections: Connection[]
  readonly #idle: Connection[]
  readonly #waiting: Waiting[] = []

  private constructor(connections: Connection[]) {
    this.#connections = connections
    this.#idle = [...connections]
  }

  static async open(port: number, connections: number): Promise<RawClient> {
    const opened = Array.from({ length: connections }, () => new Connection(port).open())
    return new RawClient(await Promise.all(opened))
  }

  /** Resolves to the body; rejects unless the status is 200. */
  send(request: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const waiting = { request, resolve, reject }
      const connection = this.#idle.pop()
      if (connection === undefined) this.#waiting.push(waiting)
      else this.#use(connection, waiting)
    })
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }

  #use(connection: Connection, { request, resolve, reject }: Waiting): void {
    connection.send(request, (error, body) => {
      const next = this.#waiting.shift()
      if (next === undefined) this.#idle.push(connection)
      else this.#use(connection, next)
      if (error) reject(error)
      else resolve(body)
    })
  }
}

type Done = (error: Error | undefined, body: Buffer) => void

/** Reconnects if the server has closed an idle connection. */
class Connection {
  readonly #port: number
  #socket: Socket | undefined
  #received: Buffer = Buffer.alloc(0)
  #done: Done | undefined

  constructor(port: number) {
    this.#port = port
  }

  async open(): Promise<this> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    socket.on('data', (data) => this.#take(data))
    socket.on('error', (error) => this.#finish(error, this.#received))
    socket.on('close', () => {
      this.#socket = undefined
      this.#finish(new Error('The server closed the connection'), this.#received)
    })
    this.#socket = socket
    return this
  }

  send(request: Buffer, done: Done): void {
    this.#done = done
    if (this.#socket?.writable) {
      this.#socket.write(request)
      return
    }
    this.open().then(
      () => this.#socket?.write(request),
      (error: unknown) => this.#finish(error as Error, this.#received),
    )
  }

  close(): void {
    this.#done = undefined
    this.#socket?.destroy()
  }

  #take(data: Buffer): void {
    this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data])
    const headEnd = this.#received.indexOf(HEAD_END)
    if (headEnd < 0) return
    const head = this.#received.toString('latin1', 0, headEnd)
    const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? NaN)
    const end = headEnd + HEAD_END.length + length
    if (this.#received.length < end) return
    const body = this.#received.subarray(headEnd + HEAD_END.length, end)
    this.#received = Buffer.alloc(0)
    const status = head.slice(9, 12)
    this.#finish(status === '200' ? undefined : new Error(`${status} ${body.toString()}`), body)
  }

  #finish(error: Error | undefined, body: Buffer): void {
    const done = this.#done
    this.#done = undefined
    done?.(error, body)
  }
}
