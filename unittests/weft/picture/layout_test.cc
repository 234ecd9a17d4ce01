#include "weft/picture/layout/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>

#include "weft/picture/layout/layered_graph.h"

namespace weft::picture {
namespace {

using testing::ElementsAre;

LevelGraph Boxes(size_t count) {
  LevelGraph graph;
  for (size_t i = 0; i < count; ++i)
    graph.boxes.push_back(
        {static_cast<float>(60 + 17 * (i % 7)), static_cast<float>(30 + 6 * (i % 3))});
  return graph;
}

void Connect(LevelGraph* graph, int from, int to) {
  graph->wires.push_back({static_cast<uint32_t>(from), from, to});
}

// Every box reads a few of the thirty before it.
LevelGraph RandomGraph(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  LevelGraph graph = Boxes(count);
  for (size_t i = 1; i < count; ++i) {
    const size_t reads = 1 + random() % 3;
    for (size_t k = 0; k < reads; ++k) {
      const size_t back = 1 + random() % std::min<size_t>(i, 30);
      Connect(&graph, static_cast<int>(i - back), static_cast<int>(i));
    }
  }
  return graph;
}

// Of boxes, and of boxes and ways, in every row.
void ExpectNothingOverlaps(const LevelGraph& graph, const LevelLayout& layout) {
  struct Span {
    float left, right;
  };
  std::map<int, std::vector<Span>> rows;
  for (size_t i = 0; i < graph.boxes.size(); ++i) {
    const float half = graph.boxes[i].width / 2;
    rows[layout.boxes[i].row].push_back({layout.boxes[i].x - half, layout.boxes[i].x + half});
    EXPECT_GE(layout.boxes[i].x - half, -1);
    EXPECT_LE(graph.boxes[i].height, layout.row_heights[layout.boxes[i].row]);
  }
  for (const Way& way : layout.ways)
    for (size_t i = 0; i < way.x.size(); ++i)
      rows[way.first_row + static_cast<int>(i)].push_back({way.x[i], way.x[i]});
  for (auto& [row, spans] : rows) {
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.left < b.left; });
    for (size_t i = 1; i < spans.size(); ++i)
      EXPECT_GE(spans[i].left, spans[i - 1].right + 5) << "row " << row;
  }
}

TEST(PictureLayout, PutsReadersBelow) {
  LevelGraph graph = Boxes(4);
  Connect(&graph, 0, 1);
  Connect(&graph, 1, 2);
  Connect(&graph, 0, 2);
  Connect(&graph, 3, 2);  // a source that is read late stands close to its reader
  const LevelLayout layout = LayOut(graph);
  std::vector<int> rows;
  for (const PlacedBox& box : layout.boxes) rows.push_back(box.row);
  EXPECT_THAT(rows, ElementsAre(0, 1, 2, 1));
  EXPECT_EQ(layout.wires[0].way, -1);
  ASSERT_EQ(layout.wires[2].way, 0);  // it passes the row of box 1
  EXPECT_EQ(layout.ways[0].first_row, 1);
  EXPECT_EQ(layout.ways[0].x.size(), 1u);
}

TEST(PictureLayout, DrawsAChainAsAStraightLine) {
  LevelGraph graph = Boxes(9);
  for (int i = 0; i + 1 < 9; ++i) Connect(&graph, i, i + 1);
  const LevelLayout layout = LayOut(graph);
  for (const PlacedBox& box : layout.boxes) EXPECT_NEAR(box.x, layout.boxes[0].x, 1);
}

TEST(PictureLayout, UncrossesWhatNeedNotCross) {
  // Two levels in opposite orders, and a third in between.
  LevelGraph graph = Boxes(12);
  for (int i = 0; i < 4; ++i) {
    Connect(&graph, i, 4 + (3 - i));
    Connect(&graph, 4 + (3 - i), 8 + (i + 2) % 4);
  }
  const LevelLayout layout = LayOut(graph);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      EXPECT_EQ(layout.boxes[a].x < layout.boxes[b].x,
                layout.boxes[4 + (3 - a)].x < layout.boxes[4 + (3 - b)].x);
}

TEST(PictureLayout, KeepsRandomGraphsApartAndDownwards) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const LevelGraph graph = RandomGraph(20 + 10 * seed, seed);
    const LevelLayout layout = LayOut(graph);
    ExpectNothingOverlaps(graph, layout);
    for (size_t i = 0; i < graph.wires.size(); ++i) {
      EXPECT_FALSE(layout.wires[i].up);
      EXPECT_LT(layout.boxes[graph.wires[i].from].row, layout.boxes[graph.wires[i].to].row);
    }
  }
}

TEST(PictureLayout, SharesTheWayOfAValue) {
  LevelGraph graph = Boxes(10);
  for (int i = 0; i + 1 < 10; ++i) Connect(&graph, i, i + 1);
  for (int i = 2; i < 10; ++i) Connect(&graph, 0, i);
  const LevelLayout layout = LayOut(graph);
  EXPECT_EQ(layout.ways.size(), 1u);
  ExpectNothingOverlaps(graph, layout);
}

TEST(PictureLayout, TurnsOneWireOfACycle) {
  LevelGraph graph = Boxes(4);
  for (int i = 0; i < 4; ++i) Connect(&graph, i, (i + 1) % 4);
  Connect(&graph, 2, 2);  // which is not drawn
  const LevelLayout layout = LayOut(graph);
  size_t up = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int from = layout.boxes[graph.wires[i].from].row,
              to = layout.boxes[graph.wires[i].to].row;
    EXPECT_EQ(from > to, layout.wires[i].up);
    up += layout.wires[i].up;
  }
  EXPECT_EQ(up, 1u);
}

TEST(PictureLayout, LeadsOutsideValuesToTheRims) {
  LevelGraph graph = Boxes(2);
  graph.wires = {{70, Wire::kOutside, 0}, {70, Wire::kOutside, 1},
                 {71, Wire::kOutside, 1}, {0, 0, 1},
                 {0, 0, Wire::kOutside},  {1, 1, Wire::kOutside}};
  const LevelLayout layout = LayOut(graph);
  ASSERT_EQ(layout.inputs.size(), 2u);
  EXPECT_EQ(layout.inputs[0].value, 70u);
  EXPECT_EQ(layout.inputs[1].value, 71u);
  ASSERT_EQ(layout.outputs.size(), 2u);
  ASSERT_EQ(layout.row_heights.size(), 4u);  // two of boxes between the rims
  EXPECT_EQ(layout.row_heights[0], 0);
  EXPECT_EQ(layout.row_heights[3], 0);
  EXPECT_EQ(layout.boxes[0].row, 1);
  ExpectNothingOverlaps(graph, layout);
}

TEST(PictureLayout, OfNothingIsEmpty) {
  const LevelLayout layout = LayOut({});
  EXPECT_TRUE(layout.boxes.empty());
  EXPECT_TRUE(layout.row_heights.empty());
}

bool operator==(const LevelLayout& a, const LevelLayout& b) {
  const auto same_boxes = [](const PlacedBox& p, const PlacedBox& q) {
    return p.row == q.row && p.x == q.x;
  };
  const auto same_ways = [](const Way& p, const Way& q) {
    return p.first_row == q.first_row && p.x == q.x;
  };
  return std::equal(a.boxes.begin(), a.boxes.end(), b.boxes.begin(), b.boxes.end(), same_boxes) &&
         std::equal(a.ways.begin(), a.ways.end(), b.ways.begin(), b.ways.end(), same_ways);
}

TEST(PictureLayout, IsTheSameEveryTime) {
  const LevelGraph graph = RandomGraph(300, 7);
  EXPECT_TRUE(LayOut(graph) == LayOut(graph));
}

double Seconds(const LevelGraph& graph) {
  const auto start = std::chrono::steady_clock::now();
  LayOut(graph);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(PictureLayout, TakesTimeLinearInTheGraph) {
  Seconds(RandomGraph(2000, 1));
  const double small = std::min(Seconds(RandomGraph(1000, 1)), Seconds(RandomGraph(1000, 2)));
  const double large = std::min(Seconds(RandomGraph(10000, 1)), Seconds(RandomGraph(10000, 2)));
  EXPECT_LT(large, 40 * small);  // ten times as much; a quadratic step would take a hundred times
}

TEST(PictureLayout, LeavesWaysOutThatWouldFillTheGraph) {
  // Half of a chain is read again at its end, in the other order: ways of 4,000 rows each.
  LevelGraph graph = Boxes(8000);
  for (int i = 0; i + 1 < 8000; ++i) Connect(&graph, i, i + 1);
  for (int i = 0; i < 4000; ++i) Connect(&graph, i, 7999 - i);
  const LevelLayout layout = LayOut(graph);
  size_t points = 0, far = 0;
  for (const Way& way : layout.ways) points += way.x.size();
  for (const RoutedWire& wire : layout.wires) far += wire.far;
  EXPECT_LT(points, 60000u);
  EXPECT_GT(far, 1000u);
  EXPECT_LT(far, 4000u);
}

}  // namespace
}  // namespace weft::picture
