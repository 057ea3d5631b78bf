// One keep-alive connection of the load generator: sends prepared bytes and reads only what is needed of a
// response.

import { connect, type Socket } from 'node:net'

export interface Response {
  status: number
  hasRetryAfter: boolean
}

/** Undefined if the connection ended without a response. */
export type Done = (response: Response | undefined) => void

const HEAD_END = '\r\n\r\n'
const LAST_CHUNK = '0\r\n\r\n'

export class Connection {
  readonly #socket: Socket
  #received = ''
  #done: Done | undefined

  constructor(port: number, onClose: (connection: Connection) => void) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (text: string) => this.#take(text))
    this.#socket.on('error', () => this.#socket.destroy())
    this.#socket.on('close', () => {
      onClose(this)
      this.#finish(undefined)
    })
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable
  }

  /** One request at a time. */
  send(request: Buffer, done: Done): void {
    this.#done = done
    this.#socket.write(request)
  }

  close(): void {
    this.#done = undefined
    this.#socket.destroy()
  }

  #take(text: string): void {
    this.#received += text
    const headEnd = this.#received.indexOf(HEAD_END)
    if (headEnd < 0) return
    const head = this.#received.slice(0, headEnd).toLowerCase()
    if (!isComplete(head, this.#received, headEnd + HEAD_END.length)) return
    this.#received = ''
    if (head.includes('connection: close')) this.#socket.end()
    this.#finish({
      status: Number(head.slice(9, 12)),
      hasRetryAfter: head.includes('\r\nretry-after:'),
    })
  }

  #finish(response: Response | undefined): void {
    const done = this.#done
    this.#done = undefined
    done?.(response)
  }
}

function isComplete(head: string, received: string, bodyStart: number): boolean {
  const at = head.indexOf('\r\ncontent-length:')
  if (at < 0) return received.endsWith(LAST_CHUNK)
  return received.length >= bodyStart + Number.parseInt(head.slice(at + 17), 10)
}
