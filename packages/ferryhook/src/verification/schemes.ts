/** The registry of signing schemes, by the `signingAlgorithm` of a source. */
import * as z from 'zod'
import { type VerificationInput, invalid, type Scheme, type VerificationResult } from './scheme.ts'
import { discord } from './schemes/discord.ts'
import { github } from './schemes/github.ts'
import { gitlab } from './schemes/gitlab.ts'
import { hmac } from './schemes/hmac.ts'
import { linear } from './schemes/linear.ts'
import { paddle } from './schemes/paddle.ts'
import { paypal } from './schemes/paypal.ts'
import { sendgrid } from './schemes/sendgrid.ts'
import { shopify } from './schemes/shopify.ts'
import { slack } from './schemes/slack.ts'
import { square } from './schemes/square.ts'
import { standardWebhooks } from './schemes/standard-webhooks.ts'
import { stripe } from './schemes/stripe.ts'
import { twilio } from './schemes/twilio.ts'
import { zendesk } from './schemes/zendesk.ts'

/** A scheme with its options. */
export const SigningScheme = z.discriminatedUnion('algorithm', [
  stripe.schema,
  github.schema,
  shopify.schema,
  slack.schema,
  twilio.schema,
  sendgrid.schema,
  square.schema,
  paypal.schema,
  gitlab.schema,
  linear.schema,
  standardWebhooks.schema,
  paddle.schema,
  discord.schema,
  zendesk.schema,
  hmac.schema,
])
export type SigningScheme = z.infer<typeof SigningScheme>
export type SigningAlgorithm = SigningScheme['algorithm']

export const schemes: Readonly<Record<SigningAlgorithm, Scheme>> = {
  stripe,
  github,
  shopify,
  slack,
  twilio,
  sendgrid,
  square,
  paypal,
  gitlab,
  linear,
  'standard-webhooks': standardWebhooks,
  paddle,
  discord,
  zendesk,
  'hmac-sha1': hmac,
  'hmac-sha256': hmac,
  'hmac-sha512': hmac,
}

export interface Verification extends VerificationInput {
  scheme: SigningScheme
}

/** Rejects only if the server itself fails, never because of what a request contains. */
export async function verifySignature({
  scheme,
  ...check
}: Verification): Promise<VerificationResult> {
  // Anyone can sign with an empty key.
  const secrets = check.secrets.filter((secret) => secret !== '')
  if (secrets.length === 0) return invalid('no_secret')
  return schemes[scheme.algorithm].verify({ ...check, secrets }, scheme)
}
