import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { GROUPS } from '../src/help.ts'
import { commands } from '../src/run.ts'

const folder = new URL('../src/commands/', import.meta.url)
const files = readdirSync(folder).map((file) => file.replace(/\.ts$/, ''))
const words: readonly string[] = Object.values(GROUPS).flat()

describe('the command registry', () => {
  test('has one file for each first word that help lists', () => {
    expect(files.toSorted()).toEqual(words.toSorted())
  })

  test.each(words)('a command of the file %s starts with that word', async (word) => {
    const members = (await commands[word]?.()) ?? []
    expect(members.length).toBeGreaterThan(0)
    for (const { name } of members) expect(name.split(' ')[0]).toBe(word)
  })
})
