/** A source in words, for people. */
import { columns, printable, relative } from '../for-people.ts'
import type { Source } from './views.ts'

export function sourceFacts(source: Source, now: number): string {
  const { hasSigningSecret, signingAlgorithm, provider, lastEventAt } = source
  const came = lastEventAt === null ? '' : `, the last one ${relative(lastEventAt, now)}`
  return columns([
    ['source', source.id],
    ['name', printable(source.name)],
    ['provider', provider],
    ['url', source.url],
    ['status', source.status],
    ['verified', hasSigningSecret ? `as ${signingAlgorithm ?? provider} signs` : 'not at all'],
    ['known by', knownBy(source)],
    ['events', `${source.eventCount} counted${came}`],
    ['created', relative(source.createdAt, now)],
  ])
}

/** By what the second sending of an event is told from another event. */
function knownBy({ dedup }: Source): string {
  if (dedup === null) return 'what the provider sends'
  if (dedup.by === 'none') return 'nothing'
  return dedup.by === 'path'
    ? `${printable(dedup.path)} in the body`
    : `the header ${printable(dedup.name)}`
}
