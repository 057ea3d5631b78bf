/** `strongroom connections requests`: what the built-in test destination of a connection received. */
import { systemClock } from '@strongroom/platform/clock'
import { type Command, usageError } from '../command.ts'
import { columns, escapeControls, escapeForTerminal, formatRelative, pluralize } from '../output.ts'
import { createFerryhookClient, ferryhookOptions, parseAccess } from './api.ts'
import { findConnection } from './find.ts'
import type { TestRequest, TestRequestDetail } from './views.ts'

export const connectionsRequests: Command = {
  name: 'connections requests',
  kind: 'client',
  args: 'CONNECTION [NUMBER]',
  summary: 'List requests to the test destination, or show one exactly as delivered',
  options: ferryhookOptions,
  about: `CONNECTION is an id, or a unique name; its URL is test:200, or another status. The latest 20
requests of the last 24 hours are recorded. If the connection has headers of its own, showing a
request requires an API key with the permission admin.`,
  async run(input) {
    const [connection = '', number] = input.args
    if (number !== undefined && !/^\d{1,15}$/.test(number)) {
      throw usageError('NUMBER must be the number of a request in the list')
    }
    const api = createFerryhookClient(parseAccess(input))
    const { id } = await findConnection(api, connection)
    const path = `/connections/${id}/test-requests`
    const now = systemClock.now()
    if (number !== undefined) {
      const request = await api<TestRequestDetail>('GET', `${path}/${number}`)
      input.output.result(requestText(request, now), request)
      return
    }
    const { items } = await api<{ items: TestRequest[] }>('GET', path)
    const rows = items.map((each) => [
      String(each.number),
      formatRelative(each.receivedAt, now),
      each.eventId,
      each.attempt === null ? 'test' : String(each.attempt),
      each.method,
      pluralize(each.bodyBytes, 'byte'),
      String(each.statusCode),
    ])
    const head = ['NUMBER', 'WHEN', 'EVENT', 'ATTEMPT', 'METHOD', 'BODY', 'RESPONSE']
    const none = 'The test destination has received nothing from this connection in 24 hours\n'
    input.output.result(rows.length === 0 ? none : columns([head, ...rows]), items)
  },
}

function requestText(request: TestRequestDetail, now: number): string {
  const facts = [
    ['request', String(request.number)],
    ['event', request.eventId],
    ['attempt', request.attempt === null ? 'test' : String(request.attempt)],
    ['received', `${formatRelative(request.receivedAt, now)}, ${request.receivedAt}`],
    ['response', String(request.statusCode)],
  ]
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    [value].flat().map((each) => `${escapeControls(name)}: ${escapeControls(each)}\n`),
  )
  const isBinary = request.encoding === 'base64'
  const body = isBinary
    ? `${request.body}\n(base64 of a binary body)`
    : escapeForTerminal(request.body).shown
  return `${columns(facts)}\n${request.method}\n${headers.join('')}\n${body}\n`
}
