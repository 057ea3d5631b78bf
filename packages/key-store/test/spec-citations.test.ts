import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const text = readFileSync(join(root, 'docs/spec/key-storage.md'), 'utf8')
const requirements = [...text.matchAll(/^- \*\*(KS-\d+)\*\* (MUST NOT|MUST|SHOULD|MAY): \S/gm)].map(
  ([, number = '', level = '']) => ({ number, level }),
)
const numbers = new Set(requirements.map(({ number }) => number))

interface Citation {
  number: string
  /** `packages/key-store/test/store/storage.test.ts:42` */
  place: string
  /** Whether it is above a test or a group of tests, or in the name of one. */
  ofTest: boolean
}

const citations = ['src', 'test'].flatMap((part) =>
  readdirSync(join(root, 'packages'))
    .flatMap((name) => filesIn(join(root, 'packages', name, part)))
    .flatMap(citationsIn),
)

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => file !== fileURLToPath(import.meta.url))
}

function citationsIn(file: string): Citation[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, at) =>
    [...line.matchAll(/\bKS-\d+\b/g)].map(([number]) => ({
      number,
      place: `${relative(root, file)}:${at + 1}`,
      ofTest: file.endsWith('.test.ts') && isOfTest(lines, at),
    })),
  )
}

/** The first line from this one on that is no comment opens a test or a group. */
function isOfTest(lines: readonly string[], from: number): boolean {
  const code = lines.slice(from).find((line) => !line.trimStart().startsWith('//')) ?? ''
  return /^\s*(?:test|describe)\b/.test(code)
}

describe('docs/spec/key-storage.md', () => {
  test('numbers its requirements without gap or repetition', () => {
    expect(requirements.length).toBeGreaterThan(100)
    expect(requirements.map(({ number }) => number)).toEqual(
      requirements.map((_, at) => `KS-${at + 1}`),
    )
  })

  test('has no MUST that no test cites', () => {
    const cited = new Set(citations.filter(({ ofTest }) => ofTest).map(({ number }) => number))
    const uncited = requirements.filter(
      ({ number, level }) => level.startsWith('MUST') && !cited.has(number),
    )
    expect(uncited.map(({ number }) => number)).toEqual([])
  })

  test('has every number that is cited', () => {
    const unknown = citations.filter(({ number }) => !numbers.has(number))
    expect(unknown.map(({ number, place }) => `${number} at ${place}`)).toEqual([])
  })

  test('is cited in test files by tests, not by other code', () => {
    const stray = citations.filter(({ place, ofTest }) => /\.test\.ts:/.test(place) && !ofTest)
    expect(stray.map(({ number, place }) => `${number} at ${place}`)).toEqual([])
  })
})
