/**
 * A JSON document that is parsed only along the paths in use; the rest stays text. Objects become
 * maps, so `__proto__` is a name like any other.
 */
import { indexIn, type Step, wildcard } from '../filters/path.ts'
import type { Budget } from '../filters/budget.ts'
import { elementsOf, membersOf } from './json-text.ts'

/** `unparsed` is the JSON text of a value. */
type Content = { unparsed: string } | Map<string, JsonNode> | JsonNode[]

export interface JsonNode {
  content: Content
}

/** `text` must be valid JSON. */
export function unparsedNode(text: string): JsonNode {
  return { content: { unparsed: text.trim() } }
}

/** Recurses into parsed nodes only, so at most `MAX_PATH_STEPS` deep. */
export function toJson({ content }: JsonNode, budget: Budget): string {
  if (content instanceof Map) {
    budget.spend(UNITS_PER_MEMBER * content.size)
    const members: string[] = []
    for (const [name, node] of content) {
      members.push(`${JSON.stringify(name)}:${toJson(node, budget)}`)
    }
    return `{${members.join(',')}}`
  }
  if (Array.isArray(content)) return toJsonList(content, budget)
  budget.spend(1 + content.unparsed.length / 32)
  return content.unparsed
}

export function toJsonList(nodes: readonly JsonNode[], budget: Budget): string {
  budget.spend(nodes.length)
  return `[${nodes.map((node) => toJson(node, budget)).join(',')}]`
}

export function findNodes(root: JsonNode, steps: readonly Step[], budget: Budget): JsonNode[] {
  let found = [root]
  for (const step of steps) {
    budget.spend(1 + found.length)
    const next: JsonNode[] = []
    for (const node of found) addChildren(next, node, step, budget)
    found = next
  }
  return found
}

/** Creates missing containers on the way, and replaces values that are not containers. */
export function putAt(
  root: JsonNode,
  steps: readonly (string | number)[],
  text: string,
  budget: Budget,
): void {
  let node = root
  for (const step of steps) {
    budget.spend(1)
    node = typeof step === 'number' ? element(node, step, budget) : member(node, step, budget)
  }
  node.content = unparsedNode(text).content
}

/** Removes nothing if `steps` is empty: there is always a document. */
export function removeAt(root: JsonNode, steps: readonly Step[], budget: Budget): void {
  const last = steps.at(-1)
  if (last === undefined) return
  for (const node of findNodes(root, steps.slice(0, -1), budget)) {
    const { content } = parseNode(node, budget)
    budget.spend(UNITS_PER_NODE)
    if (content instanceof Map) {
      if (last === wildcard) content.clear()
      else content.delete(String(last))
    } else if (Array.isArray(content)) {
      if (last === wildcard) content.length = 0
      else {
        const index = indexIn(content, last)
        if (index === undefined) continue
        budget.spend((content.length - index) / 64)
        content.splice(index, 1)
      }
    }
  }
}

function addChildren(next: JsonNode[], node: JsonNode, step: Step, budget: Budget): void {
  const { content } = parseNode(node, budget)
  if ('unparsed' in content) return
  if (step === wildcard) {
    budget.spend(content instanceof Map ? content.size : content.length / 2)
    for (const child of content.values()) next.push(child)
    return
  }
  const found = content instanceof Map ? content.get(String(step)) : elementAt(content, step)
  if (found) next.push(found)
}

function elementAt(elements: readonly JsonNode[], step: string | number): JsonNode | undefined {
  const index = indexIn(elements, step)
  return index === undefined ? undefined : elements[index]
}

function member(node: JsonNode, name: string, budget: Budget): JsonNode {
  const { content } = parseNode(node, budget)
  const members = content instanceof Map ? content : new Map<string, JsonNode>()
  node.content = members
  const found = members.get(name) ?? unparsedNode('null')
  members.set(name, found)
  return found
}

function element(node: JsonNode, index: number, budget: Budget): JsonNode {
  const { content } = parseNode(node, budget)
  const elements = Array.isArray(content) ? content : []
  node.content = elements
  budget.spend(UNITS_PER_NODE * Math.max(0, index + 1 - elements.length))
  while (elements.length <= index) elements.push(unparsedNode('null'))
  return elements[index] ?? unparsedNode('null')
}

/** Parses one level, unless the node is a scalar or already parsed. */
function parseNode(node: JsonNode, budget: Budget): JsonNode {
  const { content } = node
  if (!('unparsed' in content)) return node
  const { unparsed } = content
  if (!unparsed.startsWith('{') && !unparsed.startsWith('[')) return node
  budget.spend(scanUnits(unparsed.length))
  const members = membersOf(unparsed, () => budget.spend(UNITS_PER_MEMBER))
  const inside = members
    ? new Map([...members].map(([name, text]) => [name, unparsedNode(text)] as const))
    : elementsOf(unparsed, () => budget.spend(UNITS_PER_NODE))?.map(unparsedNode)
  if (inside) node.content = inside
  return node
}

/** To find and allocate one node. */
const UNITS_PER_NODE = 3
/** The same for a member of an object, whose name is parsed or written too. */
const UNITS_PER_MEMBER = 5

/** To skip the parts of a text of this length. */
function scanUnits(length: number): number {
  return 1 + length / 8
}
