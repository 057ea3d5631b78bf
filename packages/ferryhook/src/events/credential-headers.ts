/**
 * Headers whose value is itself a secret rather than a signature: anyone who reads it could
 * impersonate the sender. Only signature verification and deduplication see them; an event has a
 * placeholder in their place, and deliveries omit them.
 */
import * as z from 'zod'
import { HEADER_NAME, MAX_NAME_LENGTH } from './header-name.ts'

/** Stored instead of a credential. */
export const PLACEHOLDER = '(not kept)'

const MAX_ADDITIONS = 20

const headerName = z
  .string()
  .max(MAX_NAME_LENGTH)
  .toLowerCase()
  .regex(HEADER_NAME, { message: 'Must be the name of a header' })

/** Further credentials of one source. */
export const CredentialHeaderNames = z.array(headerName).max(MAX_ADDITIONS)

/** The last word of a name, or its first one for all kinds of authorization. */
const CREDENTIAL =
  /^authorization|(?:^|-)(?:authorization|cookie2?|key|passw(?:or)?d|secret|token)$|apikey$/

/** Names that match and are no credentials: they identify an event or its kind. */
const NO_CREDENTIALS = [
  'idempotency-key',
  'x-idempotency-key',
  // Twilio's id of a request, and Bitbucket's kind of event.
  'i-twilio-idempotency-token',
  'x-event-key',
]

/** `additions` are those of the source and take precedence over exemptions. */
export type IsCredentialHeader = (name: string, additions?: readonly string[]) => boolean

/** Names are in lower case; `exempt` are those of the operator. */
export function createCredentialRule(exempt: readonly string[] = []): IsCredentialHeader {
  const exempted = new Set([...NO_CREDENTIALS, ...exempt])
  return (name, additions) => {
    if (additions?.includes(name)) return true
    // Applications that read X_API_KEY take it for X-Api-Key.
    return CREDENTIAL.test(name.replaceAll('_', '-')) && !exempted.has(name)
  }
}
