/** A session as responses and commands show it. Without schemas, because commands load no HTTP code. */
import type { OperatorSession } from '@strongroom/kit/operator-sessions'
import type { SessionView } from './view.ts'

export function toSessionView(
  session: OperatorSession,
  current: OperatorSession | undefined,
): SessionView {
  const { sessionId, name, createdAt, expiresAt, lastUsedAt, secondFactor } = session
  return {
    id: sessionId,
    operator: name,
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
    lastUsedAt: lastUsedAt === undefined ? null : isoTime(lastUsedAt),
    address: session.address ?? null,
    userAgent: session.userAgent ?? null,
    secondFactor,
    isCurrent: sessionId === current?.sessionId,
  }
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
