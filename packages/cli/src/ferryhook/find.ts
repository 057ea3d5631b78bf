/** Sources and connections by what people call them: an id, or a name that only one of them has. */
import { ApiError } from '@strongroom/kit/errors'
import { nearest } from '@strongroom/kit/nearest'
import { UsageError } from '../command.ts'
import { printable } from '../for-people.ts'
import type { Ask } from '../service-api.ts'
import type { Connection, Page, Source } from './views.ts'

export async function allSources(ask: Ask): Promise<Source[]> {
  return (await ask<Page<Source>>('GET', '/sources')).items
}

export async function connectionsOf(ask: Ask, sourceId: string): Promise<Connection[]> {
  return (await ask<Page<Connection>>('GET', `/sources/${sourceId}/connections`)).items
}

export async function findSource(ask: Ask, given: string): Promise<Source> {
  if (isId('src', given)) return ask<Source>('GET', `/sources/${given}`)
  return theOne('source', given, await allSources(ask))
}

export async function findConnection(ask: Ask, given: string): Promise<Connection> {
  if (isId('conn', given)) return ask<Connection>('GET', `/connections/${given}`)
  const all: Connection[] = []
  // One after the other: a key may ask a hundred times a minute, and most accounts have few sources.
  for (const { id } of await allSources(ask)) all.push(...(await connectionsOf(ask, id)))
  return theOne('connection', given, all)
}

export function isId(prefix: 'src' | 'conn' | 'evt' | 'rpl', text: string): boolean {
  return new RegExp(`^${prefix}_[\\w-]{16}$`).test(text)
}

function theOne<T extends { name: string }>(
  kind: 'source' | 'connection',
  given: string,
  all: readonly T[],
): T {
  const called = `called "${printable(given)}"`
  const [found, another] = all.filter(({ name }) => name === given)
  if (another) {
    throw new UsageError(
      `More than one ${kind} is ${called}: give the id that "strongroom ${kind}s list" shows`,
    )
  }
  if (found) return found
  const names = all.map(({ name }) => name)
  const meant = nearest(given, names)
  const hint =
    meant === undefined ? `see "strongroom ${kind}s list"` : `did you mean "${printable(meant)}"?`
  const message = `There is no ${kind} ${called}: ${hint}`
  throw new ApiError({ code: `ferryhook.${kind}_not_found`, status: 404, message })
}
