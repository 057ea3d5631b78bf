/**
 * PayPal: RSA over the ids of transmission and webhook, the time and a checksum of the body. The
 * secret of such a source is the webhook id: it is what ties a signature, which PayPal makes for
 * all of its customers with the same key, to this one.
 */
import { verify as verifySigned, type X509Certificate } from 'node:crypto'
import { crc32 } from 'node:zlib'
import * as z from 'zod'
import { areInForce, certificatesOf } from '../certificate-chain.ts'
import { decode } from '../digests.ts'
import { type Check, defineScheme } from '../scheme.ts'
import { headerOf, isPrintable } from '../signed-request.ts'
import { judgeAge, timeOf, tolerance } from '../timestamp.ts'
import { accepted, type Reason, refused } from '../verdict.ts'

const notCertificates = 'Give RSA certificates in PEM, at most 10'

const schema = z.strictObject({
  algorithm: z.literal('paypal'),
  environment: z
    .enum(['live', 'sandbox'], 'Give the environment as live or sandbox')
    .default('live'),
  /** Certificates in PEM to trust, instead of fetching the one that a request names. */
  certificates: z
    .string(notCertificates)
    .max(12_000, notCertificates)
    .refine((pem) => certificatesOf(pem)?.every(isRsa), notCertificates)
    .optional(),
  // Only if asked for: PayPal does not say whether what it sends again has a new time.
  toleranceSeconds: tolerance.optional(),
})

export const paypal = defineScheme({
  schema,

  secretProblem: (secret) =>
    /^[A-Za-z0-9]{10,64}$/.test(secret)
      ? undefined
      : 'Give the webhook id, letters and digits, as the list of webhooks of the app shows it',

  async verify(check, scheme) {
    const { request, secrets, now } = check
    const id = headerOf(request, 'paypal-transmission-id')
    const time = headerOf(request, 'paypal-transmission-time')
    const signature = headerOf(request, 'paypal-transmission-sig')
    const algorithm = headerOf(request, 'paypal-auth-algo')
    if (id === undefined || time === undefined) return refused('missing_header')
    if (signature === undefined || algorithm === undefined) return refused('missing_header')
    const signedAt = timeOf(time)
    const claimed = decode('base64', signature)
    const readable = isPrintable(id) && !id.includes('|') && algorithm === 'SHA256withRSA'
    if (!readable || signedAt === undefined || claimed === undefined) {
      return refused('malformed_header')
    }
    const certificates = await certificatesFor(check, scheme)
    if (typeof certificates === 'string') return refused(certificates)
    const checksum = crc32(request.body)
    const matches = secrets.some((webhookId) => {
      const signed = Buffer.from(`${id}|${time}|${webhookId}|${checksum}`)
      return certificates.some(({ publicKey }) =>
        verifySigned('sha256', signed, publicKey, claimed),
      )
    })
    if (!matches) return refused('no_match')
    const { toleranceSeconds } = scheme
    return toleranceSeconds === undefined ? accepted : judgeAge(signedAt, now, toleranceSeconds)
  },
})

async function certificatesFor(
  { request, now, payPalCertificates }: Check,
  { certificates: pinned, environment }: z.infer<typeof schema>,
): Promise<X509Certificate[] | Reason> {
  if (pinned !== undefined) {
    const inForce = certificatesOf(pinned)?.filter((each) => areInForce([each], now)) ?? []
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
