/** Requests as Slack signs and sends them. */
import { createHmac } from 'node:crypto'

/** The secret, the time and the request of Slack's own documentation. */
export const official = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  timestamp: 1_531_420_618,
  body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
}

export interface Signed {
  rawBody: Buffer
  headers: Record<string, string>
}

export const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

export function signed(
  body: string | Uint8Array,
  options: {
    contentType?: string
    timestamp?: number | string
    secret?: string
    version?: string
  } = {},
): Signed {
  const { contentType = JSON_TYPE, timestamp = 4_102_444_800, version = 'v0' } = options
  const rawBody = Buffer.from(body as string)
  const mac = createHmac('sha256', options.secret ?? official.secret)
    .update(`${version}:${timestamp}:`)
    .update(rawBody)
  return {
    rawBody,
    headers: {
      'content-type': contentType,
      'x-slack-request-timestamp': String(timestamp),
      'x-slack-signature': `${version}=${mac.digest('hex')}`,
    },
  }
}

export const signedJson = (body: object, options: { timestamp?: number } = {}): Signed =>
  signed(JSON.stringify(body), options)

/** Like a command. */
export const signedForm = (fields: Record<string, string>, options: { timestamp?: number } = {}) =>
  signed(new URLSearchParams(fields).toString(), { ...options, contentType: FORM })

/** Like an action, shortcut or view. */
export const signedPayload = (payload: object, options: { timestamp?: number } = {}): Signed =>
  signedForm({ payload: JSON.stringify(payload) }, options)
