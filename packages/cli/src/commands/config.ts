import { settings } from '@strongroom/server/settings'
import type { Command } from '../command.ts'

export const config: Command = {
  name: 'config',
  kind: 'standalone',
  summary: 'List settings with their defaults and current values',
  about: 'Settings are environment variables. The values of secret ones are never shown.',
  async run({ env, output }) {
    const values: Record<string, unknown> = settings.parse(env)
    const rows = settings.current(values as never).map((row) => {
      return { ...row, value: row.secret && row.isSet ? '(set)' : (values[row.name] ?? null) }
    })
    output.result(text(rows), rows)
  },
}

interface Row {
  name: string
  default: string | null
  description: string
  value: unknown
  isSet: boolean
}

function text(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const standard =
      row.default === null || row.default === '' ? 'not set' : `default ${row.default}`
    const state = row.isSet ? `= ${String(row.value)}` : standard
    return `${row.name}  (${state})\n    ${row.description}\n`
  })
  return lines.join('')
}

export const commands: readonly Command[] = [config]
