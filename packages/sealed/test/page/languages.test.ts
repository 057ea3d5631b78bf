import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { texts } from '../../src/page/languages.ts'

const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted()

test.each(Object.entries(texts))('the texts in %s are those of English', (_, words) => {
  expect(Object.keys(words)).toEqual(Object.keys(texts.en))
})

test.each(Object.entries(texts))(
  'each text in %s says something, with the same values',
  (_, words) => {
    const values = (from: object) => Object.values(from).map((text: string) => placeholders(text))
    expect(values(words)).toEqual(values(texts.en))
    expect(Object.values(words).filter((text) => text.trim() === '')).toEqual([])
  },
)

test('every text is used', () => {
  const folder = new URL('../../src/page/', import.meta.url)
  const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n')
  const stems = Object.keys(texts.en).map((key) => key.replace(/\.(?:one|other)$/, ''))
  expect(stems.filter((stem) => !code.includes(stem))).toEqual([])
})
