import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { addressPolicy, isLoopbackHost } from '../src/safe-fetch/public-address.ts'
import { recordFunctions } from '../src/testing/reached-functions.ts'
import { compareSeedCoverage } from '../src/testing/seed-coverage.ts'

const directory = fileURLToPath(new URL('../', import.meta.url))
const POLICY = 'safe-fetch/public-address.ts'

const row = (what: string, where: string) => ({ what, where, test: '' })

describe('the comparison of a coverage page with what ran', () => {
  async function compare(rows: ReturnType<typeof row>[], pending: string[] = []) {
    const recorder = await recordFunctions()
    addressPolicy([])('8.8.8.8')
    const functions = await recorder.stop()
    return compareSeedCoverage(directory, { functions, items: new Map() }, { rows, pending })
  }

  test('fails for a row whose function never ran, although the file was used', async () => {
    // Ran before the recording, so it does not count.
    isLoopbackHost('localhost')
    const rows = [
      row('ran', `\`${POLICY}: addressPolicy\``),
      row('did not', `\`${POLICY}: isLoopbackHost\``),
      row('one of two', `\`${POLICY}: addressPolicy, isLoopbackHost\``),
      row('the file', `\`${POLICY}\``),
    ]
    expect(await compare(rows)).toEqual({
      unreached: [`did not: ${POLICY}: isLoopbackHost`, `one of two: ${POLICY}: isLoopbackHost`],
      noLongerPending: [],
    })
  })

  test('accepts a row that is listed as not reached yet, until it is reached', async () => {
    const rows = [
      row('ran', `\`${POLICY}: addressPolicy\``),
      row('did not', `\`${POLICY}: isLoopbackHost\``),
    ]
    expect(await compare(rows, ['ran', 'did not'])).toEqual({
      unreached: [],
      noLongerPending: ['ran'],
    })
  })

  test('fails for a table without items', async () => {
    const rows = [row('stored', '`server-table.ts: serverTable`')]
    await import('../src/server-table.ts')
    expect(await compare(rows)).toMatchObject({
      unreached: ['stored: server-table.ts: serverTable'],
    })
  })

  test.each(['`gone.ts`', '`token-bucket.ts: gone`'])(
    'rejects a row that names something that does not exist: %s',
    async (where) => {
      await expect(compare([row('x', where)])).rejects.toThrow('seed-coverage.md names')
    },
  )
})
