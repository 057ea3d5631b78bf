import { describe, expect, test } from 'vitest'
import { attributes, docsHtml, emptyDocument, textOf } from './test-pages.ts'
import { hostile, richDocument } from './test-document.ts'

/** The part of the page between an anchor and the end of its article. */
async function article(anchor: string, document: object = richDocument): Promise<string> {
  const html = await docsHtml(document)
  const [, part = ''] = html.split(`id="${anchor}" `)
  return part.split('</article>')[0] ?? ''
}

/** A document with one operation whose response has this schema. */
function answering(schema: unknown, schemas: Record<string, unknown> = {}) {
  const content = { 'application/json': { schema } }
  return {
    ...emptyDocument,
    paths: { '/x': { get: { responses: { 200: { description: 'OK', content } } } } },
    components: { schemas },
  }
}

const answer = async (...given: Parameters<typeof answering>) =>
  textOf(await article('get-x', answering(...given)))

describe('the reference shows every operation', () => {
  test('grouped by tag or by the first part of the path, with webhooks in a separate group', async () => {
    const html = await docsHtml(richDocument)
    expect(attributes(html, 'id').filter((id) => /^group-[^_]*(?<!title)$/.test(id))).toEqual([
      'group-trees',
      'group-other',
      'group-webhooks',
    ])
    for (const anchor of ['get-trees-treeid', 'put-trees-treeid', 'post-other-things']) {
      expect(attributes(html, 'id')).toContain(anchor)
      expect(html.split(`href="#${anchor}"`).length - 1).toBeGreaterThanOrEqual(2)
    }
  })

  test('with its parameters and those of its path, by location, with constraints', async () => {
    const text = textOf(await article('get-trees-treeid'))
    expect(text).toContain('Path parameters treeId string required at least 3 characters')
    expect(text).toContain('Query parameters depth integer How deep 0 to 9 default 2')
    expect(text).toContain('Headers x-trace string required')
  })

  test('with responses, their headers and one line for each error code', async () => {
    const text = textOf(await article('get-trees-treeid'))
    expect(text).toContain('Response 200 The tree Headers etag string Its version')
    expect(text).toContain('404 trees.gone It was felled')
    expect(text).toContain('404 trees.unknown It never was')
    expect(text).toContain('default Any other error Error')
  })

  test('with its security requirements', async () => {
    expect(textOf(await article('get-trees-treeid'))).toContain('Access none')
    expect(textOf(await article('put-trees-treeid'))).toContain('Access Bearer token (operator)')
    expect(await answer({})).not.toContain('Access')
  })

  test('with a mark if it is deprecated', async () => {
    expect(textOf(await article('put-trees-treeid'))).toContain('Plant a tree deprecated')
  })

  test('with a command that can be pasted into a shell', async () => {
    const read = await article('get-trees-treeid')
    expect(textOf(read)).toContain(
      String.raw`curl 'https://eu.example.com/trees/TREE_ID' \ -H 'x-trace: it'\''s'`,
    )
    const plant = textOf(await article('put-trees-treeid'))
    expect(plant).toContain(String.raw`curl 'https://eu.example.com/trees/TREE_ID' \ -X PUT`)
    expect(plant).toContain('-H "authorization: Bearer $TOKEN"')
    expect(plant).toContain(`-d '{ "species": "oak", "place": { "kind": "field", "row": 1 } }'`)
    expect(plant).toContain('Response 201 Copy { "id": "oak-1" }')
    expect(textOf(await article('post-other-things'))).toContain(`-F 'title=string'`)
  })

  test('with the credentials it needs, and a command for the simplest alternative', async () => {
    const signed = { security: [{ signature: [] }], requestBody: { content: { '*/*': {} } } }
    const html = await docsHtml({
      ...emptyDocument,
      paths: {
        '/logs': {
          get: { security: [{ signature: [] }, { operator: [] }], 'x-permission': 'write' },
          post: { ...signed, 'x-permission': 'operator' },
        },
      },
      components: {
        securitySchemes: {
          signature: { type: 'apiKey', in: 'header', name: 'X-Saw-Mark', description: 'Carved' },
          operator: { type: 'http', scheme: 'bearer', description: 'Run `saw add`' },
        },
      },
    })
    const text = textOf(html)
    expect(text).toContain(
      'Key in the header X-Saw-Mark Carved Bearer token (operator) Run saw add',
    )
    expect(text).toContain(
      'Access Key in the header X-Saw-Mark, or Bearer token (operator), permission write',
    )
    expect(text).toContain(String.raw`'/logs' \ -H "authorization: Bearer $TOKEN"`)
    expect(text).toContain(`-H 'X-Saw-Mark: '"$X_SAW_MARK"`)
    expect(text).toContain(`-H 'content-type: application/octet-stream' \\ --data-binary @FILE`)
  })

  test('without a command for webhooks', async () => {
    const text = textOf(await article('post-felled'))
    expect(text).toContain('A tree was felled')
    expect(text).not.toContain('curl')
  })
})

describe('schemas are expanded', () => {
  test('allOf is merged into one object, and oneOf lists its alternatives', async () => {
    const text = textOf(await article('put-trees-treeid'))
    expect(text).toContain('species string required What it becomes one of "oak" "ash"')
    expect(text).toContain('weight number or null more than 0')
    expect(text).toContain('tags array of string at most 5 items each item: matches ^[a-z]+$')
    expect(text).toContain('labels object Inside labels any name string at most 64 characters')
    expect(text).toContain('place one of several forms required Where it will stand')
    expect(text).toContain('One of object kind string required always "field" row integer required')
    expect(text).toContain('object kind string always "pot" litres number')
  })

  test('a recursive schema is expanded once and then linked', async () => {
    const html = await article('get-trees-treeid')
    const text = textOf(html)
    expect(text).toContain('branches array of object Tree required')
    expect(text).toContain('owner object Person Who waters it Inside owner')
    expect(text).toContain('seed object or null Seed')
    expect(html.match(/<code class="prop-name">owner<\/code>/g)).toHaveLength(1)
    expect(html).toContain('href="#schema-Tree"')
  })

  test('named schemas have their own section', async () => {
    const text = textOf(await article('schema-Tree'))
    expect(text).toContain('A tree of trees')
    expect(text).toContain('id string (uuid) required only in responses')
    expect(text).not.toContain('What it becomes')
  })

  test('cycles of references end', async () => {
    const schemas = {
      A: { $ref: '#/components/schemas/B' },
      B: { $ref: '#/components/schemas/A' },
      C: { allOf: [{ $ref: '#/components/schemas/C' }] },
      D: { oneOf: [{ $ref: '#/components/schemas/D' }, { type: 'null' }] },
      E: {
        anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/components/schemas/E' } }],
      },
    }
    for (const name of Object.keys(schemas)) {
      const text = await answer({ $ref: `#/components/schemas/${name}` }, schemas)
      expect(text).toContain('application/json')
    }
  })

  test('a small document that expands without end is limited', async () => {
    const schemas: Record<string, unknown> = { S0: { type: 'string' } }
    for (let level = 1; level <= 30; level += 1) {
      const $ref = `#/components/schemas/S${level - 1}`
      schemas[`S${level}`] = {
        type: 'object',
        properties: Object.fromEntries('abcdefgh'.split('').map((name) => [name, { $ref }])),
      }
    }
    const html = await docsHtml(answering({ $ref: '#/components/schemas/S30' }, schemas))
    expect(html.length).toBeLessThan(1_000_000)
  })

  test.each([
    [true, 'anything'],
    [false, 'nothing'],
    [{}, 'anything'],
    [{ type: ['string', 'integer'] }, 'string or integer'],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, 'string or integer'],
    [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'null' }] }, 'item 2 null'],
    [{ type: 'string', nullable: true }, 'string or null'],
    [{ type: 'object', patternProperties: { '^x-': { type: 'string' } } }, '^x- string'],
    [{ type: 'object', properties: { a: true }, additionalProperties: true }, 'any other name'],
    [{ enum: [1, 'two', null] }, 'number or string or null one of 1 "two" null'],
    [{ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, 'integer at least 0'],
    [{ $ref: 'https://elsewhere.example/schema.json' }, 'unknown schema "https://elsewhere'],
    [{ $ref: '#/paths/~1x/get/responses/200/description' }, 'anything'],
  ])('%j reads as %j', async (schema, expected) => {
    expect(await answer(schema)).toContain(expected)
  })
})

describe('the reference accepts any document', () => {
  test('an empty document shows that it has no operations', async () => {
    expect(textOf(await docsHtml(emptyDocument))).toContain('No operations')
    expect(textOf(await docsHtml({}))).toContain('No operations')
  })

  test.each([
    { paths: null, components: 7, tags: 'x', servers: {}, info: [] },
    { paths: { '/x': { get: { parameters: [null, {}, 1], responses: { 200: null } } } } },
    { paths: { '/x': { $ref: '#/nowhere' }, '/y': 'z', '/z': { get: [] } } },
    { paths: { '': { get: {} } }, tags: [{ name: '__proto__' }, {}] },
    { paths: { '/x': { get: { requestBody: { content: { 'application/json': 3 } } } } } },
    { paths: { '/x': { get: { security: [{ constructor: [] }] } } } },
  ])('malformed parts are omitted: %j', async (document) => {
    expect(await docsHtml(document)).toContain('</html>')
  })

  test('two operations never share an anchor', async () => {
    const get = { responses: {} }
    const html = await docsHtml({ paths: { '/a-b': { get }, '/a/b': { get }, '/a.b': { get } } })
    const ids = attributes(html, 'id')
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toContain('get-a-b-3')
  })

  test('markup in the document is shown as text', async () => {
    const html = await docsHtml({
      info: {
        title: hostile,
        version: hostile,
        description: `[x](javascript:alert(1)) ${hostile}`,
      },
      tags: [{ name: hostile, description: hostile }],
      servers: [{ url: `https://example.com/${hostile}` }],
      paths: {
        [`/${hostile}/{${hostile}}`]: {
          post: {
            tags: [hostile],
            summary: hostile,
            description: `\`${hostile}\`\n\n- ${hostile}\n\n\`\`\`\n${hostile}\n\`\`\``,
            parameters: [{ name: hostile, in: 'query', required: true, description: hostile }],
            requestBody: { content: { [hostile]: { schema: { $ref: hostile } } } },
            responses: { [hostile]: { description: hostile }, 400: { description: hostile } },
          },
        },
      },
      components: {
        schemas: {
          [hostile]: { enum: [hostile], pattern: hostile, description: hostile, default: hostile },
        },
      },
    })
    expect(html.match(/<script/g)).toHaveLength(1)
    expect(html).not.toMatch(/<img|href="javascript/)
    for (const href of attributes(html, 'href')) expect(href).toMatch(/^[#/]/)
    expect(textOf(html)).toContain(hostile)
  })

  test('a command is safe for every document', async () => {
    const evil = "'; touch /tmp/x; '"
    const text = textOf(
      await article('post-touch-tmp-x', {
        servers: [{ url: 'https://example.com' }],
        paths: {
          [`/${evil}`]: {
            post: {
              requestBody: {
                content: { 'application/json': { schema: { const: evil } } },
              },
            },
          },
        },
      }),
    )
    expect(text).toContain(String.raw`-d '"'\''; touch /tmp/x; '\''"'`)
  })
})

describe('the reference is accessible', () => {
  test('it has landmarks, one title, headings in order and only labels that exist', async () => {
    const html = await docsHtml(richDocument)
    for (const landmark of ['<header class="site-header"', '<main ', '<footer '])
      expect(html.split(landmark).length - 1).toBe(1)
    expect(attributes(html, 'aria-label')).toEqual(expect.arrayContaining(['Pages', 'Contents']))
    const levels = [...html.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level))
    expect(levels.filter((level) => level === 1)).toHaveLength(1)
    for (const [index, level] of levels.entries())
      expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1)
    const ids = attributes(html, 'id')
    expect(new Set(ids).size).toBe(ids.length)
    for (const label of attributes(html, 'aria-labelledby')) expect(ids).toContain(label)
  })

  test('controls that need the script are hidden until it runs', async () => {
    const html = await docsHtml(richDocument)
    expect(html).toContain('<div class="filter" hidden="">')
    for (const [button] of html.matchAll(/<button[^>]*>/g)) expect(button).toContain('hidden')
  })
})
