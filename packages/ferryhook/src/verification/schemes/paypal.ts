/**
 * PayPal: RSA over the ids of transmission and webhook, the time and a checksum of the body. PayPal
 * signs for all customers with the same key; the webhook id, which is the secret of the source, ties
 * a signature to this one.
 */
import { verify as verifySigned, type X509Certificate } from 'node:crypto'
import { crc32 } from 'node:zlib'
import * as z from 'zod'
import { areCurrent, parseCertificates } from '../certificate-chain.ts'
import { decode } from '../crypto.ts'
import {
  valid,
  type VerificationInput,
  defineScheme,
  checkAge,
  type FailureReason,
  invalid,
  parseTimestamp,
  tolerance,
} from '../scheme.ts'
import { headerOf, isPrintable } from '../signed-request.ts'

const notCertificates = 'Must be RSA certificates in PEM, at most 10'

const schema = z.strictObject({
  algorithm: z.literal('paypal'),
  environment: z.enum(['live', 'sandbox'], 'Must be live or sandbox').default('live'),
  /** Trusted certificates in PEM, instead of the one that a request names. */
  certificates: z
    .string(notCertificates)
    .max(12_000, notCertificates)
    .refine((pem) => parseCertificates(pem)?.every(isRsa), notCertificates)
    .optional(),
  // No default: PayPal does not document whether a retry has a new time.
  toleranceSeconds: tolerance.optional(),
})

export const paypal = defineScheme({
  schema,

  secretProblem: (secret) =>
    /^[A-Za-z0-9]{10,64}$/.test(secret)
      ? undefined
      : 'Enter the webhook id, letters and digits, from the list of webhooks of the app',

  async verify(check, scheme) {
    const { request, secrets, now } = check
    const id = headerOf(request, 'paypal-transmission-id')
    const time = headerOf(request, 'paypal-transmission-time')
    const signature = headerOf(request, 'paypal-transmission-sig')
    const algorithm = headerOf(request, 'paypal-auth-algo')
    if (id === undefined || time === undefined) return invalid('missing_header')
    if (signature === undefined || algorithm === undefined) return invalid('missing_header')
    const signedAt = parseTimestamp(time)
    const claimed = decode('base64', signature)
    const readable = isPrintable(id) && !id.includes('|') && algorithm === 'SHA256withRSA'
    if (!readable || signedAt === undefined || claimed === undefined) {
      return invalid('malformed_header')
    }
    const certificates = await certificatesFor(check, scheme)
    if (typeof certificates === 'string') return invalid(certificates)
    const checksum = crc32(request.body)
    const matches = secrets.some((webhookId) => {
      const signed = Buffer.from(`${id}|${time}|${webhookId}|${checksum}`)
      return certificates.some(({ publicKey }) =>
        verifySigned('sha256', signed, publicKey, claimed),
      )
    })
    if (!matches) return invalid('no_match')
    const { toleranceSeconds } = scheme
    return toleranceSeconds === undefined ? valid : checkAge(signedAt, now, toleranceSeconds)
  },
})

async function certificatesFor(
  { request, now, payPalCertificates }: VerificationInput,
  { certificates: pinned, environment }: z.infer<typeof schema>,
): Promise<X509Certificate[] | FailureReason> {
  if (pinned !== undefined) {
    const inForce = parseCertificates(pinned)?.filter((each) => areCurrent([each], now)) ?? []
    return inForce.length > 0 ? inForce : 'untrusted_certificate'
  }
  const url = headerOf(request, 'paypal-cert-url')
  if (url === undefined) return 'missing_header'
  if (payPalCertificates === undefined) return 'certificate_unavailable'
  const named = await payPalCertificates(url, environment)
  if (typeof named === 'string') return named
  return isRsa(named) ? [named] : 'untrusted_certificate'
}

function isRsa({ publicKey }: X509Certificate): boolean {
  return publicKey.asymmetricKeyType === 'rsa'
}
