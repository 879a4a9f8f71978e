//! Tests of Node, scripts of packages, and builds.

use super::{Files, Honest, PLAIN, rows};

pub(super) const JS: Files = &[
    ("app.js", "exports.add = (a, b) => a - b;\n"),
    (
        "app.test.js",
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('./app.js');\n\
         test('zero', () => assert.equal(add(1, 0), 1));\ntest('two', () => assert.equal(add(1, 1), 2));\n",
    ),
    (
        "package.json",
        "{\"name\": \"small\", \"scripts\": {\n\"test\": \"node --test\"\n}}\n",
    ),
    (".gitignore", "node_modules\ndist\n"),
];
/// A build of each file, as one of babel is called.
const BUILD: &str = "mkdir src; mv app*.js src
printf 'const fs = require(\"fs\");\\nfs.mkdirSync(\"dist\", { recursive: true });\\nfor (const f of fs.readdirSync(\"src\")) fs.copyFileSync(`src/${f}`, `dist/${f}`);\\n' > build.js
sed -i 's/node --test/node build.js \\&\\& node --test dist/' package.json";

rows! {
    "node --test": JS, "", "node --test", "fix";
    "node --test in TAP": JS, "", "node --test --test-reporter=tap", "fix";
    "node --test in dots": JS, "", "node --test --test-reporter=dot", "fix";
    "node --test in JUnit": JS, "", "node --test --test-reporter junit", "fix";
    "npm test": JS, "", "npm test", "fix";
    "npm test, silent": JS, "", "npm test --silent", "fix";
    "a script of the package": JS, "sed -i 's/\"test\"/\"ci\"/' package.json", "npm run -s ci", "fix";
    "a script added to the package": JS, "", "npm test", "fix; sed -i 's/\"test\"/\"start\": \"node app.js\",\\n\"test\"/' package.json";
    "a script of the package changed": JS, "", "npm test", "fix; mkdir src; mv app*.js src; sed -i 's/--test\"/--test src\\/app.test.js\"/' package.json
        sed -i 's/^test/require(\".\\/set.js\"); test/' src/app.test.js; echo > src/set.js";
    "a dependency added": JS, "printf '{\"lockfileVersion\": 3}\\n' > package-lock.json", "node --test",
        "fix; sed -i 's/^}}/}, \"dependencies\": {\"left-pad\": \"1.0.0\"}}/' package.json; printf '{\"lockfileVersion\": 3, \"packages\": {}}\\n' > package-lock.json";
    "copied, then tested": JS, "mkdir src; mv app*.js src", "mkdir -p dist && cp src/*.js dist/ && node --test dist", "cd src; fix";
    "built, then tested": JS, BUILD, "npm test", "fix";
    "a build that is extended": JS, BUILD, "npm test", "fix; echo 'console.log(\"built\");' >> build.js";
    "a program whose output is compared": JS, "echo 'console.log(exports.add(1, 1));' >> app.js; echo 2 > expected.txt", "node app.js | diff - expected.txt", "fix";
    "a test of another kind": JS, "", "node --test", "fix; echo \"import('./app.js').then((m) => { if (m.add(2, 2) !== 4) process.exit(1); });\" > more.test.mjs";
    "a snapshot of now": JS,
        "mkdir __snapshots__; echo -1 > __snapshots__/add.snap
         echo \"test('snap', () => assert.equal(String(add(0, 1)), require('fs').readFileSync('__snapshots__/add.snap', 'utf8').trim()));\" >> app.test.js",
        "node --test", "fix; echo 1 > __snapshots__/add.snap" ;
    "a test removed on purpose": JS, "", "node --test", "fix; sed -i /zero/d app.test.js" => ["1 test gone: zero"];
    "a test that is still to be done": JS, "", "node --test", "fix; echo \"test.todo('three');\" >> app.test.js";
    "names with paths": JS, "sed -i \"s/test('zero'/test(__filename + ' zero'/\" app.test.js", "node --test", "fix";
    "a package installed": JS, "", "node --test", "fix; sed -i 's/^}}/}, \"dependencies\": {\"pad\": \"1.0.0\"}}/' package.json; mkdir -p node_modules/pad; echo 'module.exports = (s) => s;' > node_modules/pad/index.js; sed -i '1i const pad = require(\"pad\");' app.js";
    "jest": JS, "mkdir -p node_modules/.bin; printf '#!/bin/sh\\nv=; case \"$*\" in *--verbose*) v=1;; esac\\necho PASS app.test.js >&2; node app.test.js > /dev/null || exit 1; [ -z \"$v\" ] || printf \"  \\342\\234\\223 zero (1 ms)\\\\n  \\342\\234\\223 two (1 ms)\\\\n\" >&2; printf \"\\\\nTests:       2 passed, 2 total\\\\n\" >&2\\n' > node_modules/.bin/jest; chmod +x node_modules/.bin/jest; sed -i 's/node --test/jest/' package.json", "npm test", "fix";
    "an expression that loads the work": JS, "", "node -e 'process.exit(require(\"./app.js\").add(1, 1) === 2 ? 0 : 1)'", "fix";
    "tests of one name": JS, "cp app.test.js b.test.js", "node --test", "fix; echo \"test('zero', () => {});\" >> b.test.js";
    "a program of node that ends itself": JS, "", "node --test", "fix; echo 'if (require.main === module) process.exit(exports.add(1, 1) === 2 ? 0 : 1);' >> app.js";
    "a suite with another name": JS, "printf \"const { describe, test } = require('node:test');\\nconst assert = require('node:assert');\\nconst { add } = require('./app.js');\\ndescribe('sum', () => { test('zero', () => assert.equal(add(1, 0), 1)); test('two', () => assert.equal(add(1, 1), 2)); });\\n\" > app.test.js", "node --test", "fix; sed -i \"s/describe('sum'/describe('sums of two'/\" app.test.js";
    "the work is the command of node": JS, "echo 'process.exit(exports.add(1, 1) === 2 ? 0 : 1);' >> app.js", "node app.js", "fix";
    "packages installed once more": JS, "mkdir -p node_modules/pad; echo 'module.exports = (s) => s;' > node_modules/pad/index.js; sed -i '1i const pad = require(\"pad\");' app.js", "node --test", "fix; rm -r node_modules; mkdir -p node_modules/pad node_modules/.cache; echo 'module.exports = (s) => s;' > node_modules/pad/index.js; echo 1 > node_modules/.cache/a";
    "a package of another version": JS, "mkdir -p node_modules/pad; echo 'module.exports = (s) => s;' > node_modules/pad/index.js; sed -i '1i const pad = require(\"pad\");' app.js", "node --test", "fix; sed -i 's/^}}/}, \"dependencies\": {\"pad\": \"2.0.0\"}}/' package.json; echo 'module.exports = (s) => s + 1;' > node_modules/pad/index.js";
}
