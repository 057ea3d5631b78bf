/** `strongroom registrations …`: sites that are being connected, through a server. */
import { createHash } from 'node:crypto'
import { createServiceClient, requiredServerOption } from '../api-client.ts'
import type { Command } from '../command.ts'
import { listItems } from '../form-bridge/list-items.ts'
import { parseId } from '../form-bridge/options.ts'
import { readSecret } from '../input.ts'
import { columns } from '../output.ts'

interface Registration {
  registration_id: string
  domain: string
  status: string
  created_at: string
  expires_at: string
}

interface Validation {
  domain: string
  validation_level: string
  passes_validation: boolean
  validation_score: number
  validation_results: Record<string, { score?: number }>
  validated_at: string
}

const registrationsList: Command = {
  name: 'registrations list',
  kind: 'client',
  summary: 'List pending registrations, or all of a domain, newest first',
  options: {
    domain: { value: 'DOMAIN', summary: 'Registrations of this domain, of any status' },
    ...requiredServerOption,
  },
  async run(input) {
    const { domain } = input.options
    const parameters = typeof domain === 'string' ? { domain } : {}
    const api = createServiceClient(input, 'form-bridge')
    const found = await listItems<Registration>(api, '/registrations', parameters)
    input.output.result(textOf(found) || 'There are no registrations\n', found)
  },
}

const registrationsFind: Command = {
  name: 'registrations find',
  kind: 'client',
  summary: 'Find the registration of a temporary key',
  options: requiredServerOption,
  about: `Asks for the key, or reads it from standard input. Only its hash is sent. For a site whose connection
fails with registration_invalid: shows whether its registration exists, and for which domain.`,
  async run(input) {
    const api = createServiceClient(input, 'form-bridge')
    const key = await readSecret('Temporary key: ')
    const temp_key_hash = createHash('sha256').update(key).digest('hex')
    const found = await listItems<Registration>(api, '/registrations', { temp_key_hash })
    input.output.result(textOf(found) || 'There is no registration with this key\n', found)
    return found.length > 0 ? 0 : 1
  },
}

const registrationsValidation: Command = {
  name: 'registrations validation',
  kind: 'client',
  args: 'REGISTRATION',
  summary: "Show the validation of a registration's domain",
  options: requiredServerOption,
  async run(input) {
    const id = parseId('REGISTRATION', input.args[0])
    const api = createServiceClient(input, 'form-bridge')
    const found = await api<Validation>('GET', `/registrations/${id}/validation`)
    const { validation_level, validation_score, passes_validation } = found
    const scores = Object.entries(found.validation_results).map(([name, { score }]) => [
      name.replaceAll('_', ' '),
      String(score ?? 'unknown'),
    ])
    const rows = [
      ['domain', found.domain],
      ['result', `${passes_validation ? 'passes' : 'fails'} ${validation_level}`],
      ['score', String(validation_score)],
      ...scores,
      ['validated', found.validated_at],
    ]
    input.output.result(columns(rows), found)
  },
}

function textOf(found: readonly Registration[]): string {
  return columns(
    found.map(({ registration_id, domain, status, expires_at }) => [
      registration_id,
      domain,
      status,
      `expires ${expires_at}`,
    ]),
  )
}

export const commands: readonly Command[] = [
  registrationsList,
  registrationsFind,
  registrationsValidation,
]
