/** The table of differences and its document say the same, and every entry is in use. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { differencesDocument } from '../conformance/differences-document.ts'
import { differences } from '../conformance/differences.ts'

const folder = new URL('../conformance/', import.meta.url)
const document = new URL('../../../docs/dynamodb-differences.md', import.meta.url)

describe('the differences from AWS', () => {
  test('are listed in the document (run vitest with -u to write it)', async () => {
    await expect(differencesDocument()).toMatchFileSnapshot(fileURLToPath(document))
  })

  test('are each consulted by a suite', () => {
    const suites = readdirSync(folder)
      .filter((name) => name.endsWith('.ts') && !name.startsWith('differences'))
      .map((name) => readFileSync(new URL(name, folder), 'utf8'))
      .join('\n')
    const unused = Object.keys(differences).filter((id) => !suites.includes(`'${id}'`))
    expect(unused).toEqual([])
  })

  test('each say what AWS does, what happens instead, and why', () => {
    for (const [id, { targets, aws, instead, reason }] of Object.entries(differences)) {
      expect([id, targets.length > 0, aws, instead, reason].every(Boolean), id).toBe(true)
      expect(aws.endsWith('.') || instead.endsWith('.') || reason.endsWith('.'), id).toBe(false)
    }
  })
})
