/** A document with about everything that OpenAPI 3.1 allows in the places that the reference shows. */
export const hostile = `</code><script>alert("x")</script><img src=x onerror=alert(1)>`

export const richDocument = {
  openapi: '3.1.0',
  info: { title: 'Sample', version: '2.0.0', description: 'A sample.\n\nSecond paragraph.' },
  servers: [{ url: 'https://{region}.example.com/', variables: { region: { default: 'eu' } } }],
  tags: [{ name: 'Trees', description: 'They **grow**; see [the manual](https://example.com/m).' }],
  security: [{ operator: [] }],
  paths: {
    '/trees/{treeId}': {
      parameters: [
        { name: 'treeId', in: 'path', required: true, schema: { type: 'string', minLength: 3 } },
      ],
      get: {
        tags: ['Trees'],
        summary: 'Read a tree',
        security: [],
        parameters: [
          { $ref: '#/components/parameters/Depth' },
          {
            name: 'x-trace',
            in: 'header',
            required: true,
            schema: { type: 'string' },
            example: "it's",
          },
        ],
        responses: {
          200: {
            description: 'The tree',
            headers: { etag: { description: 'Its version', schema: { type: 'string' } } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Tree' } } },
          },
          404: {
            description: '`trees.gone`: It was felled\n\n`trees.unknown`: It never was',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
          default: {
            description: 'Any other error',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
          },
        },
      },
      put: {
        tags: ['Trees'],
        summary: 'Plant a tree',
        deprecated: true,
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                allOf: [
                  { $ref: '#/components/schemas/Seed' },
                  {
                    type: 'object',
                    required: ['place'],
                    properties: {
                      place: {
                        description: 'Where it will stand',
                        oneOf: [
                          {
                            type: 'object',
                            required: ['kind', 'row'],
                            properties: {
                              kind: { const: 'field' },
                              row: { type: 'integer', minimum: 1, maximum: 40 },
                            },
                          },
                          {
                            type: 'object',
                            properties: { kind: { const: 'pot' }, litres: { type: 'number' } },
                          },
                        ],
                      },
                    },
                  },
                ],
              },
            },
          },
        },
        responses: { 201: { $ref: '#/components/responses/Planted' } },
      },
    },
    '/other/things': {
      post: {
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: { type: 'object', properties: { title: { type: 'string' } } },
            },
          },
        },
        responses: { 204: { description: 'Done' } },
      },
    },
  },
  webhooks: {
    felled: {
      post: {
        summary: 'A tree was felled',
        requestBody: {
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Seed' } } },
        },
        responses: { 200: { description: 'Heard' } },
      },
    },
  },
  components: {
    securitySchemes: { operator: { type: 'http', scheme: 'bearer' } },
    parameters: {
      Depth: {
        name: 'depth',
        in: 'query',
        description: 'How deep',
        schema: { type: 'integer', minimum: 0, maximum: 9, default: 2 },
      },
    },
    responses: {
      Planted: {
        description: 'Planted',
        content: { 'application/json': { schema: { type: 'object' }, example: { id: 'oak-1' } } },
      },
    },
    schemas: {
      Error: {
        type: 'object',
        required: ['error'],
        properties: { error: { type: 'object', properties: { code: { type: 'string' } } } },
      },
      Seed: {
        type: 'object',
        required: ['species'],
        properties: {
          species: { enum: ['oak', 'ash'], description: 'What it becomes' },
          weight: { type: ['number', 'null'], exclusiveMinimum: 0 },
          tags: { type: 'array', maxItems: 5, items: { type: 'string', pattern: '^[a-z]+$' } },
          labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 64 } },
        },
      },
      Tree: {
        type: 'object',
        description: 'A tree of trees',
        required: ['id', 'branches'],
        properties: {
          id: { type: 'string', format: 'uuid', readOnly: true },
          branches: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
          seed: { oneOf: [{ $ref: '#/components/schemas/Seed' }, { type: 'null' }] },
          owner: { $ref: '#/components/schemas/Person', description: 'Who waters it' },
        },
      },
      Person: {
        type: 'object',
        properties: { name: { type: 'string' }, trees: { $ref: '#/components/schemas/Trees' } },
      },
      Trees: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
    },
  },
}
