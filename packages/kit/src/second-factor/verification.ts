/**
 * Whether a proof is accepted, and what has to be written then. The decision about a wrong code is
 * written too: only so is their number limited.
 */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { ApiError } from '../errors.ts'
import { takeChallenge } from './challenges.ts'
import { secondFactorError } from './errors.ts'
import type { StoredSecondFactors } from './item.ts'
import { type RelyingParty, verifyAuthentication } from './passkeys.ts'
import { hashRecoveryCode } from './recovery-codes.ts'
import { findTotpStep } from './totp.ts'

/** Wrong codes within the window, after which codes of the app are refused until it ends. */
const MAX_WRONG_CODES = 10
const WRONG_CODE_WINDOW_SECONDS = 3_600

export type SecondFactorProof =
  | { method: 'totp'; code: string }
  | { method: 'recovery_code'; code: string }
  | { method: 'passkey'; response: AuthenticationResponseJSON }

/** What a write is about, for the audit log and for what else belongs to its transaction. */
export type SecondFactorChange =
  | { kind: 'totp_added' | 'totp_removed' }
  | { kind: 'passkey_added' | 'passkey_removed' | 'passkey_renamed'; name: string }
  | { kind: 'recovery_codes_replaced' | 'removed_all' }
  | { kind: 'verified'; method: SecondFactorProof['method'] }
  /** `isLocked` with the wrong code that reached the maximum. */
  | { kind: 'failed'; isLocked: boolean }
  /** The first step of a ceremony or a setup, which an audit log does not need. */
  | { kind: 'started' }

/** Factors without their revision, which each write replaces. */
export type NewSecondFactors = Omit<StoredSecondFactors, 'revision'>

/** What to write, and what the caller gets after that. */
export interface Decision<T> {
  /** Undefined to delete everything. */
  after: NewSecondFactors | undefined
  change: SecondFactorChange
  outcome: { result: T } | { error: ApiError }
}

/** Encrypts the secrets of authenticator apps, bound to their owner. */
export interface TotpBox {
  seal(secret: Uint8Array, owner: string): Promise<Uint8Array>
  open(sealed: Uint8Array, owner: string): Promise<Uint8Array>
}

export async function checkTotp(
  { box, clock, owner }: { box: TotpBox; clock: Clock; owner: string },
  before: StoredSecondFactors,
  code: string,
): Promise<Decision<void>> {
  const { totp } = before
  const { count, since } = countedFailures(before, epochSeconds(clock))
  if (count >= MAX_WRONG_CODES) throw lockedError(since, epochSeconds(clock))
  if (!totp) return failCode(before, clock)
  const secret = await box.open(totp.sealed, owner)
  const lastStep = findTotpStep(secret, code, { nowMs: clock.now(), lastStep: totp.lastStep })
  if (lastStep === undefined) return failCode(before, clock)
  return accept({ ...before, totp: { ...totp, lastStep } }, 'totp')
}

/** Not refused while codes of the app are: 80 random bits cannot be guessed. */
export function checkRecoveryCode(
  { clock, owner }: { clock: Clock; owner: string },
  before: StoredSecondFactors,
  code: string,
): Decision<void> {
  const codeHash = hashRecoveryCode(owner, code)
  const { recoveryCodes = [] } = before
  const left = recoveryCodes.filter((each) => each !== codeHash)
  if (left.length === recoveryCodes.length) return failCode(before, clock)
  return accept({ ...before, recoveryCodes: left }, 'recovery_code')
}

export async function checkPasskey(
  { clock, party, context }: { clock: Clock; party: RelyingParty; context: string },
  before: StoredSecondFactors,
  response: AuthenticationResponseJSON,
): Promise<Decision<void>> {
  const now = epochSeconds(clock)
  const { challenges, challenge } = takeChallenge(
    before,
    { purpose: 'authentication', context },
    now,
  )
  const after = { ...before, challenges }
  const passkey = before.passkeys?.find(({ id }) => id === response.id)
  const counter = passkey && (await verifyAuthentication(party, { challenge, response, passkey }))
  if (counter === undefined) {
    const error = secondFactorError('passkey_rejected')
    return { after, change: { kind: 'failed', isLocked: false }, outcome: { error } }
  }
  const passkeys = before.passkeys?.map((each) =>
    each === passkey ? { ...passkey, counter, lastUsedAt: now } : each,
  )
  return accept({ ...after, passkeys }, 'passkey')
}

function accept(before: NewSecondFactors, method: SecondFactorProof['method']): Decision<void> {
  const { failures: _, ...after } = before
  return { after, change: { kind: 'verified', method }, outcome: { result: undefined } }
}

function failCode(before: StoredSecondFactors, clock: Clock): Decision<void> {
  const now = epochSeconds(clock)
  const { count, since } = countedFailures(before, now)
  const isLocked = count + 1 >= MAX_WRONG_CODES
  return {
    after: { ...before, failures: { count: count + 1, since } },
    change: { kind: 'failed', isLocked },
    outcome: { error: isLocked ? lockedError(since, now) : secondFactorError('wrong_code') },
  }
}

/** The wrong codes of the current window, which begins with the first of them. */
function countedFailures({ failures }: StoredSecondFactors, now: number) {
  // A start in the future means that the clock was set back, which must not lock for longer.
  const isCurrent =
    failures && failures.since <= now && now < failures.since + WRONG_CODE_WINDOW_SECONDS
  return isCurrent ? failures : { count: 0, since: now }
}

function lockedError(since: number, now: number): ApiError {
  const seconds = Math.max(1, since + WRONG_CODE_WINDOW_SECONDS - now)
  return secondFactorError('locked', { headers: { 'retry-after': String(seconds) } })
}
