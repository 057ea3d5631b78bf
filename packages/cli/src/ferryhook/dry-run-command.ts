/** `strongroom connections dry-run`: what a connection's filter and transform do to an event. */
import { MAX_BODY_BYTES } from '@strongroom/ferryhook/events/values'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { readTextFile } from '../input.ts'
import { columns, escapeControls, escapeForTerminal } from '../output.ts'
import { createFerryhookClient, ferryhookOptions, parseAccess } from './api.ts'
import { findConnection, isId } from './find.ts'
import { connectionOptions, parseConnectionSettings } from './options.ts'

const FAILED = 1

interface DryRun {
  outcome: 'filtered' | 'dropped' | 'failed' | 'delivered'
  reason?: string
  error?: { code: string; message: string }
  body?: string
  encoding?: 'utf-8' | 'base64'
  contentType?: string
  headers?: Readonly<Record<string, string>>
  console: readonly string[]
}

export const connectionsDryRun: Command = {
  name: 'connections dry-run',
  kind: 'client',
  args: 'CONNECTION',
  summary: "Show what a connection's filter and transform do to an event",
  options: {
    event: { value: 'EVENT', summary: 'Id of an event that the source received' },
    sample: { value: 'FILE', summary: 'File with the body of an event, instead of --event' },
    'content-type': { value: 'TYPE', summary: 'Content type of the sample (application/json)' },
    filter: connectionOptions.filter,
    transform: connectionOptions.transform,
    ...ferryhookOptions,
  },
  about: `CONNECTION is an id, or a unique name. Delivers and changes nothing. --filter and --transform try
others than those of the connection. Exits with 1 if the transform fails.`,
  async run(input) {
    const event = await parseEvent(input)
    const given = await parseConnectionSettings(input)
    const api = createFerryhookClient(parseAccess(input))
    const connection = await findConnection(api, input.args[0] ?? '')
    const { filters = connection.filters, transform = connection.transform } = given
    const result = await api<DryRun>('POST', `/sources/${connection.sourceId}/dry-run`, {
      ...event,
      // Null: without one.
      filters: filters ?? undefined,
      transform: transform ?? undefined,
    })
    input.output.result(textOf(result), result)
    return result.outcome === 'failed' ? FAILED : 0
  },
}

async function parseEvent({ options }: CommandInput) {
  const { event: eventId, sample: file, 'content-type': contentType } = options
  if ((eventId === undefined) === (file === undefined)) {
    throw usageError('Pass either --event or --sample')
  }
  if (typeof eventId === 'string') {
    if (contentType !== undefined) throw usageError('--content-type is only for --sample')
    if (isId('evt', eventId)) return { eventId }
    throw usageError('--event must be an id, evt_ and 16 characters: see "strongroom events list"')
  }
  const body = await readTextFile('--sample', String(file), MAX_BODY_BYTES)
  if (body === undefined) throw usageError(`The file of --sample has over ${MAX_BODY_BYTES} bytes`)
  return { sample: { body, contentType } }
}

function textOf({ outcome, reason, error, body, encoding, ...result }: DryRun): string {
  const facts = [
    ['outcome', outcome],
    ...(reason === undefined ? [] : [['reason', escapeControls(reason)]]),
    ...(error ? [['error', escapeControls(`${error.message} (${error.code})`)]] : []),
    ...(result.contentType === undefined
      ? []
      : [['content type', escapeControls(result.contentType)]]),
    ...(encoding === 'base64' ? [['encoding', 'base64']] : []),
    ...Object.entries(result.headers ?? {}).map(([name, value]) => [
      'header',
      escapeControls(`${name}: ${value}`),
    ]),
    ...result.console.map((line) => ['console', escapeControls(line)]),
  ]
  return `${columns(facts)}${body === undefined ? '' : `\n${escapeForTerminal(body).shown}\n`}`
}
