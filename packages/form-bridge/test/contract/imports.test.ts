import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('../../src/', import.meta.url))

/** The modules that a module loads; imports of types load nothing. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8')
  return [...text.matchAll(/^import (?!type )[^;]*? from '([^']+)'/gm)].map(([, specifier = '']) =>
    specifier.startsWith('.') ? relative(src, join(src, dirname(file), specifier)) : specifier,
  )
}

function allImportsOf(file: string, seen = new Set<string>()): Set<string> {
  for (const each of importsOf(file)) {
    if (seen.has(each)) continue
    seen.add(each)
    if (each.endsWith('.ts')) allImportsOf(each, seen)
  }
  return seen
}

const isRule =
  /(?:^|\/)(?:store|service|item|latest|move|membership|package|zip|stores|settings)\.ts$/
const rules = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
  isRule.test(file),
)

// A bundle for the command line has no OpenAPI, and schemas with `.openapi` would not load there.
test.each(rules)('%s loads no OpenAPI schemas', (file) => {
  expect([...allImportsOf(file)]).not.toContain('@hono/zod-openapi')
})
