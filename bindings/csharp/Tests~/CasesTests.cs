using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

namespace Remora.Tests
{
    using Item = Dictionary<string, object>;

    /// <summary>The cases that every binding must reproduce.</summary>
    public static class CasesTests
    {
        private static readonly Lazy<Item> Cases = new Lazy<Item>(
            () => (Item)Json.Parse(File.ReadAllText(
                Path.Combine(Fixture.Root, "tests/bindings/cases.json"))));

        [Test]
        public static void RB_51_SpeechHasTheSameIdsCodesAndSound()
        {
            double tolerance = (double)Cases.Value["rms_tolerance"];
            var models = new Dictionary<string, Model>();
            foreach (Item item in Items("speech"))
            {
                string name = (string)item["name"], modelName = (string)item["model"];
                if (!models.TryGetValue(modelName, out Model model))
                {
                    var where = (Item)((Item)Cases.Value["models"])[modelName];
                    models[modelName] = model = Open(where);
                }
                var flags = (PromptFlags)Number(item["flags"]);
                var text = (string)item["text"];
                Check.Same(Numbers(item["ids"]), model.Tokenize(text, flags), name + ": ids");
                var prompt = new Prompt(text) { Flags = flags };
                Check.Equal(Number(item["prompt_elements"]), model.PromptMatrix(prompt).Length,
                            name + ": prompt");
                using (Session session = Fixture.GreedySession(Number(item["max_frames"]), model))
                {
                    Check.Same(((List<object>)item["codes"]).SelectMany(Numbers),
                               Fixture.Codes(session.Frames(prompt)), name + ": codes");
                    float[] pcm = session.Pcm().SelectMany(piece => piece).ToArray();
                    Check.Equal(Number(item["samples"]), pcm.Length, name + ": samples");
                    double expected = (double)item["rms"];
                    double rms = Math.Sqrt(pcm.Sum(x => (double)x * x) / pcm.Length);
                    Check.True(Math.Abs(rms - expected) <= tolerance * expected,
                               name + ": rms " + rms + " is near " + expected);
                }
            }
            foreach (Model model in models.Values) model.Dispose();
        }

        [Test]
        public static void RB_51_ErrorsHaveTheSameStatusAndText()
        {
            foreach (Item item in Items("errors"))
            {
                Exception thrown = Check.Throws<Exception>(() => Fail(item));
                var error = thrown as RemoraException ?? thrown.InnerException as RemoraException;
                Check.True(error != null, item["name"] + ": " + thrown);
                Check.Equal(Number(item["status"]), (int)error.Status, (string)item["name"]);
                Check.Equal((string)item["text"], error.Message, (string)item["name"]);
                Check.Equal(error.Status == Status.Cancelled, thrown is OperationCanceledException);
            }
        }

        [Test]
        public static void RB_51_AMegabyteOfTextHasTheSameIds()
        {
            var item = (Item)Cases.Value["long_text"];
            string text = string.Concat(
                Enumerable.Repeat((string)item["unit"], Number(item["repeats"])));
            int[] ids = Fixture.Golden.Tokenize(text);
            Check.Equal(Number(item["ids"]), ids.Length, "ids");
            uint rolling = 0;
            foreach (int id in ids) rolling = unchecked(rolling * 31 + (uint)id);
            Check.Equal((uint)(double)item["rolling"], rolling, "rolling sum");
        }

        private static void Fail(Item item)
        {
            Model model = Fixture.Golden;
            int frames = item.ContainsKey("max_frames") ? Number(item["max_frames"]) : 4;
            using (Session session = Fixture.GreedySession(frames))
                switch ((string)item["call"])
                {
                    case "open_model": Model.Open((string)item["path"]); break;
                    case "estimate":
                        using (var empty = new Source()) Model.Estimate(empty);
                        break;
                    case "prefill": session.Prefill((string)item["prompt"]); break;
                    case "step": session.Step(); break;
                    case "logits": session.Logits(Number(item["codebook"])); break;
                    case "set_sampling": session.SetSampling(Changed(item)); break;
                    case "cancelled_prefill":
                        session.Cancel();
                        session.Prefill((string)item["prompt"]);
                        break;
                    case "decode": model.Decode(Numbers(item["codes"]).ToArray()); break;
                    case "voice":
                        Voice.FromCodes(model, Numbers(item["codes"]).ToArray(),
                                        (string)item["transcript"]);
                        break;
                    case "load_voice":
                        Voice.Load(model, Numbers(item["bytes"]).Select(n => (byte)n).ToArray());
                        break;
                    default: throw new CheckFailed("no such call: " + item["call"]);
                }
        }

        private static Sampling Changed(Item item)
        {
            Sampling sampling = Fixture.Greedy(4);
            var value = (double)item["value"];
            switch ((string)item["field"])
            {
                case "temperature": sampling.Temperature = (float)value; break;
                case "top_p": sampling.TopP = (float)value; break;
                case "top_k": sampling.TopK = (int)value; break;
                default: throw new CheckFailed("no such field: " + item["field"]);
            }
            return sampling;
        }

        private static Model Open(Item model)
        {
            if (model.ContainsKey("tiny"))
                return Model.Open(Path.Combine(Fixture.Variable("REMORA_TINY_DIR"),
                                               (string)model["tiny"]));
            string data = Path.Combine(Fixture.Root, "tests/data");
            using (var source = new Source().AddFolder(Path.Combine(data, (string)model["dir"]))
                       .AddCodecFolder(Path.Combine(data, (string)model["codec_dir"])))
                return Model.Open(source);
        }

        private static IEnumerable<Item> Items(string key) =>
            ((List<object>)Cases.Value[key]).Cast<Item>();

        private static int Number(object value) => (int)(double)value;

        private static IEnumerable<int> Numbers(object list) => ((List<object>)list).Select(Number);
    }
}
