/** Signing in to the console, and the sessions that it begins. */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { AuditActor, AuditLog } from '@strongroom/kit/audit-log'
import type { Db } from '@strongroom/kit/db'
import type { Operator, OperatorIdentity } from '@strongroom/kit/operator-item'
import {
  createOperatorSessions,
  type OperatorSession,
  type SessionClient,
} from '@strongroom/kit/operator-sessions'
import { operatorError, type Operators } from '@strongroom/kit/operators'
import type { SecondFactorProof } from '@strongroom/kit/second-factor/verification'
import { transactParts } from '@strongroom/kit/transact'
import type { SessionAdmin } from './admin.ts'
import type { OperatorFactors } from './second-factors.ts'
import type { SignIns } from './sign-ins.ts'

/** For how long after a sign-in or verification an operator may change its factors. */
const FRESH_MS = 10 * 60_000
/** The oldest one ends when there are more. */
const MAX_SESSIONS = 20

export interface BegunSession {
  /** For the cookie. */
  value: string
  session: OperatorSession
  operator: Operator
}

export type SignInOutcome =
  | ({ kind: 'signed_in' } & BegunSession)
  | { kind: 'second_factor_required'; value: string; name: string }

export type SessionService = ReturnType<typeof createSessionService>

export function createSessionService(deps: {
  db: Db
  clock: Clock
  auditLog: AuditLog
  operators: Operators
  factors: OperatorFactors
  signIns: SignIns
  admin: Pick<SessionAdmin, 'listOf'>
}) {
  const { db, clock, auditLog, operators, factors, signIns, admin } = deps
  const sessions = createOperatorSessions({ db, clock })

  const actorOf = (name: string, { address }: SessionClient): AuditActor => ({
    actor: `operator:${name}`,
    address,
  })

  async function removeOldest(name: string): Promise<void> {
    const surplus = (await admin.listOf(name)).slice(MAX_SESSIONS - 1)
    for (const { sessionId } of surplus) await sessions.delete(name, sessionId)
  }

  async function begin(identity: OperatorIdentity, client: SessionClient): Promise<BegunSession> {
    const { operator, mark } = identity
    await removeOldest(operator.name)
    const { value, session, part } = sessions.createPart({
      ...client,
      name: operator.name,
      mark,
      secondFactor: false,
    })
    const by = actorOf(operator.name, client)
    const entry = { ...by, action: 'server.session.created', target: session.sessionId }
    await transactParts(auditLog.audited(entry), { session: part })
    return { value, session, operator }
  }

  /** Throws `verification_required` unless the operator proved who it is a short time ago. */
  function requireFresh({ verifiedAt }: OperatorSession): void {
    if (!isRecent(clock, verifiedAt * 1000, FRESH_MS)) throw operatorError('verification_required')
  }

  return {
    requireFresh,
    begin,

    async signIn(token: string, client: SessionClient): Promise<SignInOutcome> {
      const identity = await operators.identify(token)
      if (!identity) throw operatorError('invalid_token')
      const { name } = identity.operator
      if (await factors.isEnrolled(name)) {
        const value = await signIns.begin({ name, mark: identity.mark })
        return { kind: 'second_factor_required', value, name }
      }
      return { kind: 'signed_in', ...(await begin(identity, client)) }
    },

    /** The second step of a sign-in: the proof, the session and its audit log entry are one write. */
    async completeSignIn(
      value: string,
      proof: SecondFactorProof,
      client: SessionClient,
    ): Promise<BegunSession> {
      const signIn = await signIns.attempt(value)
      const { name, mark, signInId } = signIn
      const identity = await operators.load(name)
      if (identity?.mark !== mark) throw operatorError('sign_in_expired')
      await removeOldest(name)
      const begun = sessions.createPart({ ...client, name, mark, secondFactor: true })
      const verified = {
        parts: { begun: begun.part, signIn: signIns.completePart(signIn) },
        action: 'server.session.created',
        target: begun.session.sessionId,
        refuse(by: ReadonlyMap<string, unknown>) {
          if (by.has('signIn')) throw operatorError('sign_in_expired')
        },
      }
      await factors
        .as({ by: actorOf(name, client), verified })
        .verify(name, { context: signInId, proof })
      return { value: begun.value, session: begun.session, operator: identity.operator }
    },

    /** Options for a passkey, in a sign-in. */
    async signInOptions(value: string) {
      const { name, signInId } = await signIns.find(value)
      return factors.as({ by: actorOf(name, {}) }).startVerification(name, { context: signInId })
    },

    /** A fresh proof within a session: of a second factor if there is one, else of the token. */
    async verify(
      session: OperatorSession,
      by: AuditActor,
      proof: SecondFactorProof | { method: 'token'; token: string },
    ): Promise<void> {
      const { name, sessionId, mark, secondFactor } = session
      const isEnrolled = await factors.isEnrolled(name)
      if (proof.method === 'token') {
        const identity = isEnrolled ? undefined : await operators.identify(proof.token)
        if (identity?.operator.name !== name) throw operatorError('invalid_token')
        const part = sessions.verifiedPart(session, { mark, secondFactor })
        const { kind } = await transactParts(db, { session: part })
        if (kind !== 'done') throw operatorError('session_ended')
        return
      }
      const renewed = sessions.verifiedPart(session, { mark, secondFactor: true })
      const verified = { parts: { session: renewed }, refuse: () => {} }
      await factors.as({ by, verified }).verify(name, { context: sessionId, proof })
    },

    /** Ends the session with this value; nothing if there is none. */
    async signOut(value: string, { address }: SessionClient): Promise<void> {
      const session = await sessions.find(value)
      if (!session) return
      const { name, sessionId } = session
      const audited = auditLog.audited({
        ...actorOf(name, { address }),
        action: 'server.session.ended',
        target: sessionId,
      })
      await createOperatorSessions({ db: audited, clock }).delete(name, sessionId)
    },
  }
}
