/** Discord: Ed25519 over time and body, with a key of which we have the public half. */
import { type KeyObject, verify as verifySigned } from 'node:crypto'
import * as z from 'zod'
import { decode } from '../digests.ts'
import { ed25519Key } from '../public-keys.ts'
import { defineScheme } from '../scheme.ts'
import { headerOf } from '../signed-request.ts'
import { judgeAge, timeOf, tolerance, usualTolerance } from '../timestamp.ts'
import { refused } from '../verdict.ts'

export const discord = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('discord'),
    toleranceSeconds: tolerance.default(usualTolerance),
  }),

  secretProblem: (secret) =>
    publicKey(secret)
      ? undefined
      : 'Give the public key of the application: 64 hexadecimal digits, from its general information',

  verify({ request, secrets, now }, { toleranceSeconds }) {
    const header = headerOf(request, 'x-signature-ed25519')
    const time = headerOf(request, 'x-signature-timestamp')
    if (header === undefined || time === undefined) return refused('missing_header')
    const signedAt = timeOf(time)
    const claimed = decode('hex', header)
    if (signedAt === undefined || claimed === undefined) return refused('malformed_header')
    const keys = secrets.map(publicKey).filter((key) => key !== undefined)
    if (keys.length === 0) return refused('no_secret')
    const signed = Buffer.concat([Buffer.from(time), request.body])
    return keys.some((key) => verifySigned(null, signed, key, claimed))
      ? judgeAge(signedAt, now, toleranceSeconds)
      : refused('no_match')
  },
})

function publicKey(secret: string): KeyObject | undefined {
  const bytes = decode('hex', secret)
  return bytes && ed25519Key(bytes)
}
