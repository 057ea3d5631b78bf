/**
 * Second factors of people who sign in: an authenticator app (TOTP), passkeys and recovery codes. The
 * mechanism knows neither who the people are nor where their factors are stored.
 *
 * A service provides a `SecondFactorStore` for its table, on which each change can be one transaction
 * with whatever belongs to it, such as an audit log entry or the session that a verified factor begins.
 * `createSecondFactorItems` (item.ts) builds the reads and writes. It creates a `SecondFactors` for each
 * request, which costs nothing, so that its store knows who acts.
 *
 *     const factors = createSecondFactors({ store, clock, box, publicUrl, issuer: 'Strongroom' })
 *     const { secret, uri } = await factors.startTotp('ada', { context: sessionId, account: 'ada' })
 *     const { recoveryCodes } = await factors.confirmTotp('ada', { context: sessionId, code: '123456' })
 *     // At sign-in, after the first factor:
 *     if ((await factors.summary('ada')).isEnrolled)
 *       await factors.verify('ada', { context: signInId, proof: { method: 'totp', code: '654321' } })
 *
 * `context` is the id of the session or of the unfinished sign-in: a challenge that was issued for one
 * does not count in another.
 *
 * The decision about a code or a challenge is made known only after the write that records it, on the
 * condition that nothing else was written since the read. So a code, a recovery code and a challenge
 * work once, and `MAX_WRONG_CODES` (verification.ts) holds, however many requests arrive at the same time.
 *
 * The mechanism does not decide who may change factors: services require a fresh sign-in for that.
 */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { randomToken } from '../ids.ts'
import { CONFLICT, retryOnConflict } from '../retry-on-conflict.ts'
import { addChallenge, takeChallenge } from './challenges.ts'
import { secondFactorError } from './errors.ts'
import { isEnrolled, type StoredPasskey, type StoredSecondFactors } from './item.ts'
import {
  authenticationOptions,
  registrationOptions,
  type RelyingParty,
  relyingPartyOf,
  verifyRegistration,
} from './passkeys.ts'
import { newRecoveryCodes } from './recovery-codes.ts'
import { findTotpStep, newTotpSecret, toBase32, totpUri } from './totp.ts'
import {
  checkPasskey,
  checkRecoveryCode,
  checkTotp,
  type Decision,
  type NewSecondFactors,
  type SecondFactorChange,
  type SecondFactorProof,
  type TotpBox,
} from './verification.ts'

const MAX_PASSKEYS = 10
const SETUP_SECONDS = 10 * 60

export interface SecondFactorStore {
  load(owner: string): Promise<StoredSecondFactors | undefined>
  /**
   * Writes if `before` is still what is stored, and returns false if it is not. Without `after`,
   * everything is deleted. May throw, which refuses the change.
   */
  replace(
    owner: string,
    before: StoredSecondFactors | undefined,
    after: StoredSecondFactors | undefined,
    change: SecondFactorChange,
  ): Promise<boolean>
}

/** What people may know about their factors. Times are epoch seconds. */
export interface SecondFactorSummary {
  isEnrolled: boolean
  totp: { createdAt: number } | undefined
  passkeys: readonly {
    id: string
    name: string
    isSynced: boolean
    createdAt: number
    lastUsedAt: number | undefined
  }[]
  recoveryCodesLeft: number
  /** Whether browsers allow passkeys at the address of this server. */
  canUsePasskeys: boolean
}

/** With the first factor come recovery codes, which are never shown again. */
export interface Enrolment {
  recoveryCodes: readonly string[] | undefined
}

export type SecondFactors = ReturnType<typeof createSecondFactors>

export function createSecondFactors(deps: {
  store: SecondFactorStore
  clock: Clock
  box: TotpBox
  publicUrl: string
  /** The name of the server that apps and browsers show. */
  issuer: string
}) {
  const { store, clock, box, issuer } = deps

  /** Reads, decides and writes; repeated if something else was written in between. */
  async function change<T>(
    owner: string,
    decide: (before: StoredSecondFactors | undefined) => Promise<Decision<T>>,
  ): Promise<T> {
    const outcome = await retryOnConflict(async () => {
      const before = await store.load(owner)
      const decision = await decide(before)
      const after = decision.after && { ...decision.after, revision: randomToken(12) }
      const isWritten = await store.replace(owner, before, after, decision.change)
      return isWritten ? decision.outcome : CONFLICT
    })
    if ('error' in outcome) throw outcome.error
    return outcome.result
  }

  function requireParty(): RelyingParty {
    const party = relyingPartyOf(deps.publicUrl)
    if (!party) throw secondFactorError('passkeys_unavailable')
    return party
  }

  /** With the first factor come recovery codes. */
  function enrol(owner: string, before: StoredSecondFactors | undefined, after: NewSecondFactors) {
    if (isEnrolled(before)) return { after, recoveryCodes: undefined }
    const { codes, hashes } = newRecoveryCodes(owner)
    return { after: { ...after, recoveryCodes: hashes }, recoveryCodes: codes }
  }

  return {
    async summary(owner: string): Promise<SecondFactorSummary> {
      const stored = await store.load(owner)
      const { totp, passkeys = [], recoveryCodes = [] } = stored ?? {}
      return {
        isEnrolled: isEnrolled(stored),
        totp: totp && { createdAt: totp.createdAt },
        passkeys: passkeys.map(({ id, name, isSynced, createdAt, lastUsedAt }) => ({
          id,
          name,
          isSynced,
          createdAt,
          lastUsedAt,
        })),
        recoveryCodesLeft: recoveryCodes.length,
        canUsePasskeys: relyingPartyOf(deps.publicUrl) !== undefined,
      }
    },

    /** Returns the secret for the app. It counts only when a code confirms it. */
    async startTotp(owner: string, on: { context: string; account: string }) {
      const secret = newTotpSecret()
      const sealed = await box.seal(secret, owner)
      const newTotp = {
        sealed,
        context: on.context,
        expiresAt: epochSeconds(clock) + SETUP_SECONDS,
      }
      await change(owner, async (before) => ({
        after: { ...before, newTotp },
        change: { kind: 'started' },
        outcome: { result: undefined },
      }))
      return { secret: toBase32(secret), uri: totpUri(secret, issuer, on.account) }
    },

    /** Replaces the app of before, if there is one. */
    async confirmTotp(owner: string, on: { context: string; code: string }): Promise<Enrolment> {
      return change(owner, async (before) => {
        const { newTotp, ...rest } = before ?? {}
        const now = epochSeconds(clock)
        if (!newTotp || newTotp.context !== on.context || newTotp.expiresAt <= now) {
          throw secondFactorError('setup_expired')
        }
        const secret = await box.open(newTotp.sealed, owner)
        const lastStep = findTotpStep(secret, on.code, { nowMs: clock.now(), lastStep: 0 })
        if (lastStep === undefined) throw secondFactorError('wrong_code')
        // The code that confirms the app cannot sign in as well.
        const totp = { sealed: newTotp.sealed, createdAt: now, lastStep }
        const { after, recoveryCodes } = enrol(owner, before, { ...rest, totp })
        return { after, change: { kind: 'totp_added' }, outcome: { result: { recoveryCodes } } }
      })
    },

    async removeTotp(owner: string): Promise<void> {
      await change(owner, async (before) => {
        if (!before?.totp) throw secondFactorError('totp_not_found')
        const { totp: _, ...rest } = before
        return {
          after: unlessEmpty(rest),
          change: { kind: 'totp_removed' },
          outcome: { result: undefined },
        }
      })
    },

    /** Returns the options for the browser's `navigator.credentials.create`. */
    async startPasskey(
      owner: string,
      { context, account }: { context: string; account: string },
    ): Promise<PublicKeyCredentialCreationOptionsJSON> {
      const party = requireParty()
      return change(owner, async (before) => {
        const { passkeys = [] } = before ?? {}
        if (passkeys.length >= MAX_PASSKEYS) throw secondFactorError('too_many_passkeys')
        const request = { purpose: 'registration', context } as const
        const { challenges, challenge } = addChallenge(before, request, epochSeconds(clock))
        const on = { issuer, owner, account, challenge, passkeys }
        return {
          after: { ...before, challenges },
          change: { kind: 'started' },
          outcome: { result: await registrationOptions(party, on) },
        }
      })
    },

    async confirmPasskey(
      owner: string,
      on: { context: string; name: string; response: RegistrationResponseJSON },
    ): Promise<Enrolment & { id: string }> {
      const party = requireParty()
      const { context, name, response } = on
      return change<Enrolment & { id: string }>(owner, async (before) => {
        const now = epochSeconds(clock)
        const request = { purpose: 'registration', context } as const
        const { challenges, challenge } = takeChallenge(before, request, now)
        const verified = await verifyRegistration(party, { challenge, response })
        const rest = { ...before, challenges }
        if (!verified) {
          const error = secondFactorError('passkey_rejected')
          return { after: rest, change: { kind: 'started' }, outcome: { error } }
        }
        const { passkeys = [] } = rest
        if (passkeys.some(({ id }) => id === verified.id)) throw secondFactorError('passkey_exists')
        if (passkeys.length >= MAX_PASSKEYS) throw secondFactorError('too_many_passkeys')
        const added = { ...verified, name, createdAt: now }
        const all = { ...rest, passkeys: [...passkeys, added] }
        const { after, recoveryCodes } = enrol(owner, before, all)
        return {
          after,
          change: { kind: 'passkey_added', name },
          outcome: { result: { id: verified.id, recoveryCodes } },
        }
      })
    },

    async renamePasskey(owner: string, id: string, name: string): Promise<void> {
      await change(owner, async (before) => {
        const passkey = findPasskey(before, id)
        const passkeys = before?.passkeys?.map((each) =>
          each === passkey ? { ...passkey, name } : each,
        )
        return {
          after: { ...before, passkeys },
          change: { kind: 'passkey_renamed', name },
          outcome: { result: undefined },
        }
      })
    },

    async removePasskey(owner: string, id: string): Promise<void> {
      await change(owner, async (before) => {
        const passkey = findPasskey(before, id)
        const passkeys = before?.passkeys?.filter((each) => each !== passkey)
        return {
          after: unlessEmpty({ ...before, passkeys }),
          change: { kind: 'passkey_removed', name: passkey.name },
          outcome: { result: undefined },
        }
      })
    },

    /** Returns new codes, which are never shown again; the old ones become invalid. */
    async replaceRecoveryCodes(owner: string): Promise<readonly string[]> {
      return change(owner, async (before) => {
        if (!isEnrolled(before)) throw secondFactorError('not_enrolled')
        const { codes, hashes } = newRecoveryCodes(owner)
        return {
          after: { ...before, recoveryCodes: hashes },
          change: { kind: 'recovery_codes_replaced' },
          outcome: { result: codes },
        }
      })
    },

    /** Deletes all factors, for somebody who lost them. */
    async removeAll(owner: string): Promise<void> {
      await change(owner, async (before) => {
        if (!isEnrolled(before)) throw secondFactorError('not_enrolled')
        return {
          after: undefined,
          change: { kind: 'removed_all' },
          outcome: { result: undefined },
        }
      })
    },

    /** Returns the options for `navigator.credentials.get`; undefined without a passkey. */
    async startVerification(
      owner: string,
      { context }: { context: string },
    ): Promise<PublicKeyCredentialRequestOptionsJSON | undefined> {
      const party = relyingPartyOf(deps.publicUrl)
      const stored = await store.load(owner)
      if (!party || !stored?.passkeys || stored.passkeys.length === 0) return undefined
      return change(owner, async (before) => {
        const request = { purpose: 'authentication', context } as const
        const { challenges, challenge } = addChallenge(before, request, epochSeconds(clock))
        const options = await authenticationOptions(party, challenge, before?.passkeys ?? [])
        return {
          after: { ...before, challenges },
          change: { kind: 'started' },
          outcome: { result: options },
        }
      })
    },

    /** Throws unless the proof is of a factor of this owner and was never used before. */
    async verify(
      owner: string,
      { context, proof }: { context: string; proof: SecondFactorProof },
    ): Promise<void> {
      await change(owner, async (before) => {
        if (!before || !isEnrolled(before)) throw secondFactorError('not_enrolled')
        switch (proof.method) {
          case 'totp':
            return checkTotp({ box, clock, owner }, before, proof.code)
          case 'recovery_code':
            return checkRecoveryCode({ clock, owner }, before, proof.code)
          case 'passkey':
            return checkPasskey({ clock, party: requireParty(), context }, before, proof.response)
        }
      })
    },
  }
}

/** With the last factor, everything is deleted: recovery codes alone are none. */
function unlessEmpty(after: NewSecondFactors): NewSecondFactors | undefined {
  return isEnrolled(after) ? after : undefined
}

function findPasskey(before: StoredSecondFactors | undefined, id: string): StoredPasskey {
  const found = before?.passkeys?.find((each) => each.id === id)
  if (!found) throw secondFactorError('passkey_not_found')
  return found
}
