/** A configurable HMAC: where the signature is, how it is encoded and what it covers. */
import * as z from 'zod'
import { hasMatch, decodeAny, type Hash, hmac as digest } from '../crypto.ts'
import {
  valid,
  defineScheme,
  checkAge,
  invalid,
  parseTimestamp,
  tolerance,
  DEFAULT_TOLERANCE_SECONDS,
} from '../scheme.ts'
import { headerName, headerOf, isPrintable, type SignedRequest } from '../signed-request.ts'

const prefix = z.string().max(64, 'Must be at most 64 characters').default('')

const PLACEHOLDER = /\{(timestamp|id|body|url)\}/

const schema = z
  .strictObject({
    algorithm: z.enum(['hmac-sha1', 'hmac-sha256', 'hmac-sha512']),
    header: headerName.default('x-signature'),
    /** The text before each signature in its header: `sha256=`, `v1=`. */
    prefix,
    encoding: z.enum(['hex', 'base64'], 'Must be hex or base64').default('hex'),
    /** The signed text. */
    template: z
      .string('Must be the signed text, such as {timestamp}.{body}')
      .max(200, 'Must be at most 200 characters')
      .default('{body}'),
    /** May be the header of the signature: `t=…,v1=…`. */
    timestampHeader: headerName.optional(),
    timestampPrefix: prefix,
    idHeader: headerName.optional(),
    toleranceSeconds: tolerance.default(DEFAULT_TOLERANCE_SECONDS),
  })
  .superRefine(({ template, timestampHeader, idHeader }, context) => {
    const wrong = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    const has = (name: string) => template.includes(`{${name}}`)
    if (template.split('{body}').length !== 2) {
      wrong('template', 'Must contain {body} exactly once, because an unsigned body can be forged')
    }
    if (/[{}]/.test(template.replaceAll(new RegExp(PLACEHOLDER, 'g'), ''))) {
      wrong('template', 'Must contain no braces except in {timestamp}, {id}, {body} and {url}')
    }
    if (has('timestamp') !== (timestampHeader !== undefined)) {
      wrong(
        'timestampHeader',
        'Set timestampHeader and use {timestamp} in the template, or neither',
      )
    }
    if (has('id') !== (idHeader !== undefined)) {
      wrong('idHeader', 'Set idHeader and use {id} in the template, or neither')
    }
  })

export const hmac = defineScheme({
  schema,

  verify({ request, secrets, now }, scheme) {
    const signatures = valuesOf(request, scheme.header, scheme.prefix)
    const times = valuesOf(request, scheme.timestampHeader, scheme.timestampPrefix)
    const ids = valuesOf(request, scheme.idHeader, '')
    if (!signatures || !times || !ids) return invalid('missing_header')

    const claimed = decodeAny(scheme.encoding, signatures)
    const [timestamp = '', ...otherTimes] = new Set(
      times.filter((time) => parseTimestamp(time) !== undefined),
    )
    const signedAt = parseTimestamp(timestamp)
    const timeIsWrong = scheme.timestampHeader !== undefined && signedAt === undefined
    const [id = ''] = ids
    const idIsWrong = scheme.idHeader !== undefined && !isPrintable(id)
    if (claimed === undefined || timeIsWrong || otherTimes.length > 0 || idIsWrong) {
      return invalid('malformed_header')
    }

    const parts = { timestamp, id, body: request.body, url: request.url }
    const signed = scheme.template
      .split(PLACEHOLDER)
      .map((piece, index) => (index % 2 === 0 ? piece : parts[piece as keyof typeof parts]))
    const hash = scheme.algorithm.slice('hmac-'.length) as Hash
    const expected = secrets.map((secret) => digest(hash, secret, ...signed))
    if (!hasMatch(claimed, expected)) return invalid('no_match')
    return signedAt === undefined ? valid : checkAge(signedAt, now, scheme.toleranceSeconds)
  },
})

/**
 * The values after the prefix, in the whole header and in each entry of a list. Empty if the header
 * is not configured; undefined if it is missing.
 */
function valuesOf(
  request: SignedRequest,
  name: string | undefined,
  start: string,
): string[] | undefined {
  if (name === undefined) return []
  const header = headerOf(request, name)
  if (header === undefined) return undefined
  return [header, ...header.split(/[,; ]+/)]
    .filter((entry) => entry.startsWith(start))
    .map((entry) => entry.slice(start.length))
}
