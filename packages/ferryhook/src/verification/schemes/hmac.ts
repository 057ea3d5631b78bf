/** Any HMAC: where the signature is, how it is written and what it covers is all configured. */
import * as z from 'zod'
import { anyMatch, decodeAny, type Hash, hmac as digest } from '../digests.ts'
import { headerName } from '../header-name.ts'
import { defineScheme } from '../scheme.ts'
import { headerOf, isPrintable, type SignedRequest } from '../signed-request.ts'
import { judgeAge, timeOf, tolerance, usualTolerance } from '../timestamp.ts'
import { accepted, refused } from '../verdict.ts'

const prefix = z.string().max(64, 'Give a prefix of at most 64 characters').default('')

const PLACEHOLDER = /\{(timestamp|id|body|url)\}/

const schema = z
  .strictObject({
    algorithm: z.enum(['hmac-sha1', 'hmac-sha256', 'hmac-sha512']),
    header: headerName.default('x-signature'),
    /** What stands before each signature in its header: `sha256=`, `v1=`. */
    prefix,
    encoding: z.enum(['hex', 'base64'], 'Give the encoding as hex or base64').default('hex'),
    /** The signed text. */
    template: z
      .string('Give the signed text, such as {timestamp}.{body}')
      .max(200, 'Give a template of at most 200 characters')
      .default('{body}'),
    /** May be the header of the signature: `t=…,v1=…`. */
    timestampHeader: headerName.optional(),
    timestampPrefix: prefix,
    idHeader: headerName.optional(),
    toleranceSeconds: tolerance.default(usualTolerance),
  })
  .superRefine(({ template, timestampHeader, idHeader }, context) => {
    const wrong = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    const has = (name: string) => template.includes(`{${name}}`)
    if (template.split('{body}').length !== 2) {
      wrong('template', 'Put {body} into the template, once: what is not signed can be forged')
    }
    if (/[{}]/.test(template.replaceAll(new RegExp(PLACEHOLDER, 'g'), ''))) {
      wrong('template', 'Use no braces but in {timestamp}, {id}, {body} and {url}')
    }
    if (has('timestamp') !== (timestampHeader !== undefined)) {
      wrong('timestampHeader', 'Give timestampHeader and {timestamp} in the template, or neither')
    }
    if (has('id') !== (idHeader !== undefined)) {
      wrong('idHeader', 'Give idHeader and {id} in the template, or neither')
    }
  })

export const hmac = defineScheme({
  schema,

  verify({ request, secrets, now }, scheme) {
    const signatures = valuesOf(request, scheme.header, scheme.prefix)
    const times = valuesOf(request, scheme.timestampHeader, scheme.timestampPrefix)
    const ids = valuesOf(request, scheme.idHeader, '')
    if (!signatures || !times || !ids) return refused('missing_header')

    const claimed = decodeAny(scheme.encoding, signatures)
    const [timestamp = '', ...otherTimes] = new Set(
      times.filter((time) => timeOf(time) !== undefined),
    )
    const signedAt = timeOf(timestamp)
    const timeIsWrong = scheme.timestampHeader !== undefined && signedAt === undefined
    const [id = ''] = ids
    const idIsWrong = scheme.idHeader !== undefined && !isPrintable(id)
    if (claimed === undefined || timeIsWrong || otherTimes.length > 0 || idIsWrong) {
      return refused('malformed_header')
    }

    const parts = { timestamp, id, body: request.body, url: request.url }
    const signed = scheme.template
      .split(PLACEHOLDER)
      .map((piece, index) => (index % 2 === 0 ? piece : parts[piece as keyof typeof parts]))
    const hash = scheme.algorithm.slice('hmac-'.length) as Hash
    const expected = secrets.map((secret) => digest(hash, secret, ...signed))
    if (!anyMatch(claimed, expected)) return refused('no_match')
    return signedAt === undefined ? accepted : judgeAge(signedAt, now, scheme.toleranceSeconds)
  },
})

/**
 * What follows the prefix, in the header as a whole and in each entry of a list. Nothing of a header
 * that is not configured; undefined of one that is not there.
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
