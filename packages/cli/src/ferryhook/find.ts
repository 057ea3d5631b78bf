/** Finds sources and connections by id or unique name. */
import { ApiError } from '@strongroom/kit/errors'
import { nearest } from '@strongroom/kit/nearest'
import { type CommandInput, usageError } from '../command.ts'
import { escapeControls } from '../output.ts'
import type { ApiClient } from '../api-client.ts'
import type { Connection, Page, Source } from './views.ts'

export async function listSources(api: ApiClient): Promise<Source[]> {
  return (await api<Page<Source>>('GET', '/sources')).items
}

export async function listConnections(api: ApiClient, sourceId: string): Promise<Connection[]> {
  return (await api<Page<Connection>>('GET', `/sources/${sourceId}/connections`)).items
}

export async function findSource(api: ApiClient, idOrName: string): Promise<Source> {
  if (isId('src', idOrName)) return api<Source>('GET', `/sources/${idOrName}`)
  return findByName('source', idOrName, await listSources(api))
}

export async function findConnection(api: ApiClient, idOrName: string): Promise<Connection> {
  if (isId('conn', idOrName)) return api<Connection>('GET', `/connections/${idOrName}`)
  const all: Connection[] = []
  // Sequentially, because of the rate limit of API keys; most accounts have few sources.
  for (const { id } of await listSources(api)) all.push(...(await listConnections(api, id)))
  return findByName('connection', idOrName, all)
}

export function isId(prefix: 'src' | 'conn' | 'evt' | 'rpl', text: string): boolean {
  return new RegExp(`^${prefix}_[\\w-]{16}$`).test(text)
}

/** Finds what has this name, for commands that take an id or a unique name. */
export function findByName<T extends { name: string }>(
  kind: 'source' | 'connection' | 'API key',
  idOrName: string,
  all: readonly T[],
): T {
  const word = kind === 'API key' ? 'api-key' : kind
  const called = `called "${escapeControls(idOrName)}"`
  const [found, another] = all.filter(({ name }) => name === idOrName)
  if (another) {
    throw usageError(`Several ${kind}s are ${called}: use the id from "strongroom ${word}s list"`)
  }
  if (found) return found
  const names = all.map(({ name }) => name)
  const meant = nearest(idOrName, names)
  const hint =
    meant === undefined
      ? `see "strongroom ${word}s list"`
      : `did you mean "${escapeControls(meant)}"?`
  const message = `No ${kind} is ${called}: ${hint}`
  throw new ApiError({
    code: `ferryhook.${word.replace('-', '_')}_not_found`,
    status: 404,
    message,
  })
}

/** An event has no name. */
export function parseEventId({ args: [id = ''] }: Pick<CommandInput, 'args'>): string {
  if (isId('evt', id)) return id
  throw usageError('EVENT must be an id, evt_ and 16 characters: see "strongroom events list"')
}
