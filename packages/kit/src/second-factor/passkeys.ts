/**
 * The WebAuthn ceremonies, verified by @simplewebauthn/server. It is loaded on first use, because it is
 * large and most servers start without needing it.
 */
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { CHALLENGE_SECONDS } from './challenges.ts'
import type { StoredPasskey } from './item.ts'

const load = () => import('@simplewebauthn/server')

/** What browsers call the relying party: the server, as its public address names it. */
export interface RelyingParty {
  id: string
  origin: string
}

/** Undefined where browsers refuse passkeys: on plain http, and on addresses without a host name. */
export function relyingPartyOf(publicUrl: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(publicUrl)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  const isName = isIP(hostname.replaceAll(/[[\]]/g, '')) === 0
  return isName && (protocol === 'https:' || isLocal) ? { id: hostname, origin } : undefined
}

export async function registrationOptions(
  party: RelyingParty,
  on: {
    issuer: string
    owner: string
    account: string
    challenge: string
    passkeys: readonly StoredPasskey[]
  },
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await load()
  return generateRegistrationOptions({
    rpID: party.id,
    rpName: on.issuer,
    userName: on.account,
    userDisplayName: on.account,
    // Authenticators store it in the clear, so it is not the id itself.
    userID: Uint8Array.from(createHash('sha256').update(`${on.issuer}\n${on.owner}`).digest()),
    challenge: fromBase64url(on.challenge),
    timeout: CHALLENGE_SECONDS * 1000,
    attestationType: 'none',
    excludeCredentials: on.passkeys.map(({ id, transports }) => ({ id, transports })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
  })
}

export type VerifiedPasskey = Pick<
  StoredPasskey,
  'id' | 'publicKey' | 'counter' | 'transports' | 'isSynced'
>

/** Undefined unless the response is valid for this challenge. */
export async function verifyRegistration(
  party: RelyingParty,
  { challenge, response }: { challenge: string; response: RegistrationResponseJSON },
): Promise<VerifiedPasskey | undefined> {
  const { verifyRegistrationResponse } = await load()
  const verification = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
  }).catch(() => undefined)
  if (!verification?.verified) return undefined
  const { credential, credentialDeviceType } = verification.registrationInfo
  return {
    id: credential.id,
    publicKey: credential.publicKey,
    counter: credential.counter,
    transports: credential.transports ?? [],
    isSynced: credentialDeviceType === 'multiDevice',
  }
}

export async function authenticationOptions(
  party: RelyingParty,
  challenge: string,
  passkeys: readonly StoredPasskey[],
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await load()
  return generateAuthenticationOptions({
    rpID: party.id,
    challenge: fromBase64url(challenge),
    timeout: CHALLENGE_SECONDS * 1000,
    userVerification: 'required',
    allowCredentials: passkeys.map(({ id, transports }) => ({ id, transports })),
  })
}

/** The new counter; undefined for an invalid response and for a counter that did not increase. */
export async function verifyAuthentication(
  party: RelyingParty,
  on: { challenge: string; response: AuthenticationResponseJSON; passkey: StoredPasskey },
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await load()
  const { id, publicKey, counter } = on.passkey
  // It throws for whatever is wrong with a response.
  const verification = await verifyAuthenticationResponse({
    response: on.response,
    expectedChallenge: on.challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    credential: { id, publicKey: Uint8Array.from(publicKey), counter },
    requireUserVerification: true,
  }).catch(() => undefined)
  return verification?.verified ? verification.authenticationInfo.newCounter : undefined
}

function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, 'base64url'))
}
