import { describe, expect, test } from '@jest/globals';
import { openApiText } from '../../lib/docs/openapi/texts.ts';
import { PAGE_FILES } from '../../lib/settings/page-files.ts';
import { pagesBeside, pagesOfPackage } from '../../lib/wiring/pages.ts';
import { projectRoot } from '../support/project-files.ts';
import { closeWorldsAfterEach, openWorld } from '../support/surface-world.ts';
import { tempFolder } from '../support/temp-folder.ts';

closeWorldsAfterEach();

const open = () => openWorld(() => ({ pages: pagesOfPackage(projectRoot) }));
const get = async (path: string, method = 'GET') => {
  const { app } = await open();
  return app.request(`https://checkpoint.example.com${path}`, { method });
};

describe('the interactive page', () => {
  test('takes scripts, styles and data from this server alone, and none inline', async () => {
    const page = await get('/docs');
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const html = await page.text();
    const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, where]) => where);
    expect(named).toEqual([
      'data:,',
      '/docs/swagger-ui.css',
      '/openapi.json',
      '/docs/swagger-ui-bundle.js',
      '/docs/start.js',
    ]);
    expect(html).not.toMatch(/<script>|<style| on[a-z]+=|https?:/);
  });

  test.each([
    ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
    ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
    ['/docs/start.js', 'text/javascript; charset=utf-8'],
    ['/openapi.json', 'application/json'],
  ])('%s is there without a token', async (path, type) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('the document that is served is the one that is generated', async () => {
    expect(await (await get('/openapi.json')).text()).toBe(openApiText());
  });

  test.each(['/docs', '/openapi.json', '/docs/start.js'])('%s is only read', async (path) => {
    const answer = await get(path, 'POST');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test.each(['/docs/package.json', '/docs/..%2Fpackage.json', '/docs/index.html'])(
    'no other file is served: %s',
    async (path) => {
      expect((await get(path)).status).toBe(401);
    },
  );

  test('files that are not there are 404, and the page itself still answers', async () => {
    const folder = await tempFolder();
    const { app } = await openWorld(() => ({ pages: pagesBeside(folder) }));
    for (const name of Object.keys(PAGE_FILES)) {
      expect(await pagesBeside(folder).file(name)).toBeUndefined();
    }
    const url = 'https://checkpoint.example.com/docs';
    expect((await app.request(url)).status).toBe(200);
    expect((await app.request(`${url}/swagger-ui.css`)).status).toBe(404);
  });
});
