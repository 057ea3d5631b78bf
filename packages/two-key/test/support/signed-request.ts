/** Requests as Slack signs them. */
import { createHmac } from 'node:crypto'
import { SECRET } from './machine.ts'

export function signedServiceRequest(content: object, nowMs: number, secret = SECRET) {
  const body = JSON.stringify(content)
  const timestamp = String(Math.floor(nowMs / 1000))
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${signature}`,
    },
  }
}
