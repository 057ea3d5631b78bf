/** `strongroom abuse …`: detected abuse and the blocks that follow from it, through a server. */
import { createServiceClient, requiredServerOption } from '../api-client.ts'
import type { Command } from '../command.ts'
import { listItems } from '../form-bridge/list-items.ts'
import { parseChoice } from '../form-bridge/options.ts'
import { columns } from '../output.ts'

interface AbusePattern {
  pattern_type: string
  identifier: string
  severity: string
  details: { slowed?: unknown; blocked?: unknown }
  detected_at: string
}

const TYPES = ['registration_spam', 'api_abuse', 'invalid_domains'] as const

const abuseList: Command = {
  name: 'abuse list',
  kind: 'client',
  summary: 'List detected abuse of Form-Bridge, newest first',
  options: {
    type: { value: 'TYPE', summary: `One of ${TYPES.join(', ')} (all)` },
    ...requiredServerOption,
  },
  async run(input) {
    const { type } = input.options
    const types = type === undefined ? TYPES : [parseChoice('--type', TYPES, type)]
    const api = createServiceClient(input, 'form-bridge')
    const found: AbusePattern[] = []
    for (const each of types) {
      found.push(...(await listItems<AbusePattern>(api, '/abuse-patterns', { type: each })))
    }
    found.sort((a, b) => (a.detected_at < b.detected_at ? 1 : -1))
    const rows = found.map(({ detected_at, pattern_type, severity, identifier, details }) => [
      detected_at,
      pattern_type,
      severity,
      identifier,
      penaltyOf(details),
    ])
    input.output.result(columns(rows) || 'No abuse was detected\n', found)
  },
}

const abuseUnblock: Command = {
  name: 'abuse unblock',
  kind: 'client',
  args: 'TYPE ID',
  summary: 'Lift the block and the slowdown of an address or site',
  options: requiredServerOption,
  about:
    'TYPE and ID are those of "strongroom abuse list". Its detections of this type are deleted.',
  async run(input) {
    const type = parseChoice('TYPE', TYPES, input.args[0])
    const identifier = input.args[1] ?? ''
    const api = createServiceClient(input, 'form-bridge')
    await api('DELETE', `/abuse-patterns/${type}/${encodeURIComponent(identifier)}`)
    input.output.result(`${identifier} is not blocked for ${type} any more\n`, {
      pattern_type: type,
      identifier,
      unblocked: true,
    })
  },
}

function penaltyOf({ slowed, blocked }: AbusePattern['details']): string {
  const hours = (seconds: unknown) => (typeof seconds === 'number' ? seconds / 3600 : 0)
  if (hours(blocked) > 0) return `blocked for ${hours(blocked)} h`
  return hours(slowed) > 0 ? `slowed down for ${hours(slowed)} h` : 'no penalty'
}

export const commands: readonly Command[] = [abuseList, abuseUnblock]
