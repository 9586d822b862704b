/* Serves a Next.js route handler on PORT, which is a function of a Request. Run: node serve-route.ts FILE */
import { serve } from '@hono/node-server'

const [file = ''] = process.argv.slice(2)
const { POST } = (await import(file)) as { POST: (request: Request) => Promise<Response> }
serve({ fetch: POST, port: Number(process.env['PORT']), hostname: '127.0.0.1' })
