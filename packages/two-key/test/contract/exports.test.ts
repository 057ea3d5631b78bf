/** The names that apps import from the built package. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { outsideApp } from '../support/outside-app.ts'

const source = (name: string) => readFile(new URL(`../../src/${name}.ts`, import.meta.url), 'utf8')

describe('the built package', () => {
  test('exports these values, from these paths', async () => {
    const directory = await outsideApp({}, { types: false })
    const built = join(directory, 'node_modules/@strongroom/two-key')
    const { exports } = JSON.parse(await readFile(join(built, 'package.json'), 'utf8')) as {
      exports: Record<string, string | { import: { default: string } }>
    }
    const names: Record<string, string[]> = {}
    for (const [path, entry] of Object.entries(exports)) {
      if (typeof entry === 'string') continue
      const { default: file } = entry.import
      const module = (await import(
        /* @vite-ignore */ pathToFileURL(join(built, file)).href
      )) as object
      names[path] = Object.keys(module).toSorted()
    }
    expect(names).toEqual({
      '.': [
        'TwoKeyUndecidable',
        'createExistenceChecker',
        'existenceCheck',
        'twoKey',
        'twoKeyFetch',
        'twoKeyLambda',
        'twoKeyMiddleware',
        'twoKeyNode',
        'verifySlackRequest',
      ],
      './dynamo-cache': ['dynamoCache'],
      './hono': ['twoKeyHono'],
      './installation-store': ['createKeyBox', 'dynamoInstallationStore'],
    })
  })

  test('exports these types', async () => {
    const lists = [...(await source('library')).matchAll(/^export type \{([^}]*)\}/gm)]
    const names = lists.flatMap(([, list = '']) => list.split(','))
    // `A as B` is exported as B.
    const exported = names.map((name) => name.trim().split(' as ').at(-1) ?? '')
    expect(exported.toSorted()).toEqual([
      'CheckerOptions',
      'Decision',
      'ExistenceCheckOptions',
      'Rejected',
      'SlackIds',
      'SlackPayload',
      'TwoKeyContext',
      'TwoKeyOptions',
      'Verified',
    ])
  })
})
