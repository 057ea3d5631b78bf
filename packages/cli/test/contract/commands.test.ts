/** Command lines that scripts depend on, as a snapshot; texts for people are left out. */
import { describe, expect, test } from 'vitest'
import { optionsOf } from '../../src/command.ts'
import { commands } from '../../src/run.ts'

describe('the command line', () => {
  test('has these commands with these arguments and options', async () => {
    const words = await Promise.all(Object.values(commands).map((load) => load()))
    const rows = words.flat().map((command) => {
      const { name, args, secretArgs = false, kind, creates = false } = command
      const { json: _json, ...options } = optionsOf(command)
      const listed = Object.entries(options).map(([option, { value, multiple = false }]) => [
        option,
        { value: value ?? null, multiple },
      ])
      const ordered = listed.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
      return {
        name,
        kind,
        creates,
        args: args ?? null,
        secretArgs,
        options: Object.fromEntries(ordered),
      }
    })
    const text = JSON.stringify(
      rows.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      null,
      2,
    )
    await expect(`${text}\n`).toMatchFileSnapshot('snapshots/commands.json')
  })
})
