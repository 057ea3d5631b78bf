/** A local mail server that records what it receives. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

interface Received {
  to: string[]
  /** As received: headers and text. */
  text: string
}

export interface Mailbox {
  /** For the settings. */
  env: Record<string, string>
  received: Received[]
  /** Resolves when this many mails have arrived. */
  until(count: number): Promise<void>
  /** How many of the next mails are rejected. */
  refuse(count: number): void
  /** An address that is rejected as mail servers do. */
  refuseFor(address: string): void
  close(): Promise<void>
}

export async function openMailbox(): Promise<Mailbox> {
  const received: Received[] = []
  const waiters = new Set<() => void>()
  let refused = 0
  let unwanted: string | undefined
  const server = new SMTPServer({
    authOptional: true,
    // Does not wait for clients that keep a connection open.
    closeTimeout: 1,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _session, done) {
      done(address === unwanted ? new Error(`<${address}>: no such mailbox`) : null)
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (refused-- > 0) return done(new Error('Not now'))
        const to = session.envelope.rcptTo.map(({ address }) => address)
        // A long line is sent as several lines, joined by "=".
        const text = Buffer.concat(chunks).toString().replaceAll('=\r\n', '').replaceAll('=3D', '=')
        received.push({ to, text })
        done()
        for (const look of waiters) look()
      })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    env: {
      FERRYHOOK_SMTP_URL: `smtp://127.0.0.1:${port}`,
      FERRYHOOK_MAIL_FROM: 'Ferryhook <hooks@example.com>',
    },
    received,
    until: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (received.length < count) return
          waiters.delete(look)
          resolve()
        }
        waiters.add(look)
        look()
      }),
    refuse: (count) => (refused = count),
    refuseFor: (address) => (unwanted = address),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
