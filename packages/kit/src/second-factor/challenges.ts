/** Challenges that passkeys sign: each for one purpose and one session or sign-in, and for one response. */
import { randomBytes } from 'node:crypto'
import { secondFactorError } from './errors.ts'
import type { StoredChallenge, StoredSecondFactors } from './item.ts'

export const CHALLENGE_SECONDS = 5 * 60
const MAX_CHALLENGES = 10

type Request = Pick<StoredChallenge, 'purpose' | 'context'>

/** Replaces the challenge of the same request; expired and the oldest ones are dropped. */
export function addChallenge(
  before: StoredSecondFactors | undefined,
  request: Request,
  now: number,
): { challenges: StoredChallenge[]; challenge: string } {
  const challenge = randomBytes(32).toString('base64url')
  const others = (before?.challenges ?? []).filter(
    (each) => each.expiresAt > now && !isFor(each, request),
  )
  const added = { ...request, challenge, expiresAt: now + CHALLENGE_SECONDS }
  return { challenges: [...others, added].slice(-MAX_CHALLENGES), challenge }
}

/** The challenge of a request, and the others: any response uses it up. */
export function takeChallenge(
  before: StoredSecondFactors | undefined,
  request: Request,
  now: number,
): { challenges: StoredChallenge[]; challenge: string } {
  const all = before?.challenges ?? []
  const found = all.find((each) => isFor(each, request) && each.expiresAt > now)
  if (!found) throw secondFactorError('challenge_expired')
  return { challenges: all.filter((each) => each !== found), challenge: found.challenge }
}

function isFor({ purpose, context }: StoredChallenge, request: Request): boolean {
  return purpose === request.purpose && context === request.context
}
